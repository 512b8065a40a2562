"""The console as a whole: every page, what becomes of errors on them, and where people log in."""

from __future__ import annotations

from fastapi import FastAPI

from gateway.pages import (
    account,
    ask,
    attacker,
    audit,
    budget,
    catalogue,
    comments,
    endings,
    entitlements,
    errors,
    grants,
    jobs,
    login,
    metrics,
    notices,
    oidc,
    operation,
    operation_images,
    operation_people,
    operation_platform,
    operation_providers,
    operation_workers,
    policy,
    projects,
    register,
    register_profile,
    register_steps,
    register_table,
    release,
    reviews,
    scrambles,
    session,
    static,
    submit,
    submit_bounds,
    submit_check,
    submit_mechanism,
    submit_pipeline,
    submit_rehearsal,
    train,
    twin_reports,
    twin_review,
    twins,
)
from gateway.routes import add_routes

PAGES = (
    static,
    login,
    oidc,
    account,
    notices,
    register_profile,
    register,
    register_table,
    register_steps,
    catalogue,
    attacker,
    policy,
    budget,
    # before the pages of jobs: /jobs/new is no job
    submit,
    submit_pipeline,
    submit_rehearsal,
    submit_bounds,
    submit_mechanism,
    submit_check,
    ask,
    train,
    jobs,
    release,
    twin_reports,
    twin_review,
    twins,
    scrambles,
    reviews,
    comments,
    audit,
    operation,
    operation_workers,
    operation_images,
    operation_people,
    operation_platform,
    operation_providers,
    metrics,
    # before the pages of projects and data sets that have further parts
    endings,
    entitlements,
    projects,
    grants,
)


def install(app: FastAPI) -> None:
    """After the API's own map of errors, which stays as it is below /api."""
    errors.install(app)
    session.install(app)
    for part in PAGES:
        add_routes(app, part.router)
