"""What error a release will have, before anything is spent: from public parameters and a twin's run alone.

Must never be given original data. Floats are fine here: nothing in this package is a release. Reading
order: twin, bootstrap, ranks, replay, formulas, forecast, inverse, interval, together, recommendation;
results and two_means for what follows from means over people; clipping, mixture, worlds and stability for
the other mechanisms, unit_noise for simulated releases.
"""

from privacy.preview.clipping import KindForecast, compare_kinds, proposed_norm
from privacy.preview.forecast import (
    AGGREGATORS,
    LADDER,
    REPLAYS,
    Choice,
    Errors,
    Forecast,
    forecast,
    standard_ladder,
)
from privacy.preview.formulas import NoiseError, epsilon_for_noise, noise_error, spread_ratio
from privacy.preview.interval import IntervalForecast, forecast_interval
from privacy.preview.inverse import epsilon_for_error
from privacy.preview.mixture import mixture_quantile
from privacy.preview.recommendation import Recommendation, recommend
from privacy.preview.stability import StabilityForecast, forecast_stability
from privacy.preview.together import Together, together
from privacy.preview.twin import BlockAnswers, TwinAnswers
from privacy.preview.unit_noise import unit_laplace, unit_normal
from privacy.preview.worlds import PacForecast, forecast_pac

__all__ = [
    "AGGREGATORS",
    "LADDER",
    "REPLAYS",
    "BlockAnswers",
    "Choice",
    "Errors",
    "Forecast",
    "IntervalForecast",
    "KindForecast",
    "NoiseError",
    "PacForecast",
    "Recommendation",
    "StabilityForecast",
    "Together",
    "TwinAnswers",
    "compare_kinds",
    "epsilon_for_error",
    "epsilon_for_noise",
    "forecast",
    "forecast_interval",
    "forecast_pac",
    "forecast_stability",
    "mixture_quantile",
    "noise_error",
    "proposed_norm",
    "recommend",
    "spread_ratio",
    "standard_ladder",
    "together",
    "unit_laplace",
    "unit_normal",
]
