"""Trusted queries: aggregates that the platform itself computes, so that noise is scaled to one row of a
person instead of one block of people. No container and no foreign code; every query is pure differential
privacy.

A query is a frozen description. `contribution` says what one row adds, in integers; the scan computes the
sums of these over all rows, exactly, and `release` adds the noise. Reading order: noisy_sums, count, sums,
spread, histogram, quantile, covariance, regression, groups.
"""

from privacy.trusted.count import Count
from privacy.trusted.covariance import Covariance
from privacy.trusted.groups import Groups
from privacy.trusted.histogram import Histogram
from privacy.trusted.quantile import Quantile
from privacy.trusted.query import TrustedQuery
from privacy.trusted.regression import LinearRegression
from privacy.trusted.spread import Variance
from privacy.trusted.sums import Mean, Sum

__all__ = [
    "Count",
    "Covariance",
    "Groups",
    "Histogram",
    "LinearRegression",
    "Mean",
    "Quantile",
    "Sum",
    "TrustedQuery",
    "Variance",
]
