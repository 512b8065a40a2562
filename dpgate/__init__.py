"""dpgate for Python: run a pipeline on sensitive data and read back what differential privacy allows.

    import dpgate

    client = dpgate.connect()                    # the login of `dpgate login`, or DPGATE_URL and DPGATE_TOKEN
    client.twin("heights", "twin/")              # the anonymised stand-in to develop on
    job = client.submit(request)                 # `dpgate submit` builds the request from a folder
    release = job.wait().release()
    print(release["mean_height"].value, release.guarantee, release.cost)
    # counts, means, quantiles and the like need no pipeline: see dpgate.queries
    client.query("heights", dpgate.queries.mean("height", by=["sex"]), epsilon="0.5")

Importing this package needs httpx only.
"""

from dpgate import queries
from dpgate.client import AsyncClient, Client, connect, connect_async
from dpgate.errors import DpgateError, NotLoggedIn, PlatformUnreachable, RequestRefused
from dpgate.forecasts import Forecast
from dpgate.job import Job
from dpgate.models import Account, Budget, Dataset, Release, Value
from dpgate.previews import Preview

__all__ = [
    "Account",
    "AsyncClient",
    "Budget",
    "Client",
    "Dataset",
    "DpgateError",
    "Forecast",
    "Job",
    "NotLoggedIn",
    "PlatformUnreachable",
    "Preview",
    "Release",
    "RequestRefused",
    "Value",
    "connect",
    "connect_async",
    "queries",
]
