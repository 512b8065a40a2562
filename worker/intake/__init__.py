"""What a rights holder delivered, checked before it becomes a snapshot.

Runs twice: on the rights holder's machine (`dpgate dataset check`), where every detail may be shown, and in
the worker zone, from where only a problem of the fixed list goes out.
"""

from worker.intake.delivery import Delivery, check_delivery
from worker.intake.refusal import ImportRefused

__all__ = ["Delivery", "ImportRefused", "check_delivery"]
