"""The Python client gets to a release, and shows nobody's token on the way."""

from __future__ import annotations

import pytest
from terminal import Platform, ready_pipeline

import dpgate
from dpgate.asking import build_request
from dpgate.credentials import Login
from dpgate.errors import NotFinished, RequestRefused


def test_a_client_gets_to_a_release(one_platform: Platform) -> None:
    folder = ready_pipeline(one_platform, "ages", "sdk")
    request = build_request(folder, epsilon="0.4", dataset=None, block_size=None, anyway=True)
    environment = one_platform.ada.environment
    url, token = environment["DPGATE_URL"], environment["DPGATE_TOKEN"]
    with dpgate.connect(url=url, token=token) as client:
        job = client.submit(request)
        assert job.is_new
        assert not client.submit(request, job_id=job.id).is_new
        states = [seen.state for seen in job.follow(poll_s=0.1)]
        assert states[-1] == "RELEASED"
        release = job.wait().release()
        value = release["mean_age"]
        assert value.lower_95 < value.value < value.upper_95
        assert (release.cost, release.guarantee) == ({"epsilon": "0.4"}, "pure_dp")
        with pytest.raises(KeyError, match="there are mean_age"):
            release["mean_hight"]
        for shown in (client, job, release, client.budget("ages"), Login(url, token)):
            assert token not in repr(shown) + str(shown)
        with pytest.raises(NotFinished):
            job.wait(timeout_s=0)
        with pytest.raises(RequestRefused) as refusal:
            client.submit(request | {"mechanism": {"name": "sample_aggregate", "epsilon": "9"}})
    assert refusal.value.problems[0].field == "mechanism.epsilon"
