"""Settings of the gateway process. There is no setting for data, keys or sandboxes, on purpose."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class GatewaySettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="DPGATE_", frozen=True)

    database_url: str
    broker_url: str
    # the largest request that is read at all: a job with its sources, or a data set's declaration
    max_body_bytes: int = Field(4 * 1024 * 1024, gt=0)
