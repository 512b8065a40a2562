"""Who sends in the next round: nothing that moves by itself may know it beforehand."""

import secrets


def fair() -> bool:
    return secrets.randbits(1) == 1
