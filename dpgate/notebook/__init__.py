"""What a notebook shows for the objects of the SDK: HTML with the drawings of the pages.

Loaded when something is displayed, never with `import dpgate`. It knows `drawing`, `domain.job_steps`
and `privacy.loss`, which need no more than the standard library. Everything that a platform answered is
foreign text here: it is escaped and cut, and an object that makes no sense is shown as its plain text.

Reading order: frame, then one file for each noun.
"""

from dpgate.notebook.budget import budget_html
from dpgate.notebook.dataset import dataset_html
from dpgate.notebook.forecast import forecast_html
from dpgate.notebook.job import job_html
from dpgate.notebook.preview import preview_html
from dpgate.notebook.release import release_html

__all__ = ["budget_html", "dataset_html", "forecast_html", "job_html", "preview_html", "release_html"]
