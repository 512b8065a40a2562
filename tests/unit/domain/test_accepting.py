"""A pipeline whose runs could signal to each other by what the policy does not accept is refused when it is
submitted, as far as its image and the workers that are there decide it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from factories import make_dataset, make_declaration, make_job_request, make_pipeline, policy_fields

from domain.accepting import check_channels
from domain.errors import NotAllowed
from domain.image import ImageKind, SyscallTable

HOST, IMPORTED = ImageKind.HOST, ImageKind.IMPORTED
STRICT, STANDARD = SyscallTable.STRICT, SyscallTable.STANDARD
OF_STANDARD = ["pipe_count", "mount_numbers"]
OF_DOCKER = ["page_faults", *OF_STANDARD, "pid_numbers"]
BOTH = {"docker", "supervised"}

# what the policy accepts; kind, table, kinds of sandboxes; what the refusal names
ROWS: tuple[tuple[Sequence[str], ImageKind, SyscallTable, set[str], str], ...] = (
    ([], IMPORTED, STRICT, {"supervised"}, ""),
    ([], IMPORTED, STRICT, set(), ""),
    ([], HOST, STRICT, {"supervised"}, r"by page_faults, which"),
    ([], HOST, STRICT, set(), r"the host's own files.* by page_faults, which"),
    (["page_faults"], HOST, STRICT, {"supervised"}, ""),
    (OF_STANDARD, HOST, STRICT, {"supervised"}, r"by page_faults, which"),
    ([], IMPORTED, STANDARD, {"supervised"}, r"standard.* by pipe_count, mount_numbers, which"),
    (["page_faults"], HOST, STANDARD, {"supervised"}, r"by pipe_count, mount_numbers, which"),
    (OF_STANDARD, IMPORTED, STANDARD, {"supervised"}, ""),
    ([], IMPORTED, STRICT, {"docker"}, r"containers.* by page_faults, pipe_count, mount_numbers, pid_"),
    (OF_DOCKER[1:], IMPORTED, STRICT, {"docker"}, r"in containers.* by page_faults, which"),
    (OF_DOCKER, IMPORTED, STRICT, {"docker"}, ""),
    ([], IMPORTED, STRICT, BOTH, ""),
    ([], HOST, STRICT, BOTH, r"the host's own files.* by page_faults, which"),
)  # fmt: skip


def test_what_each_worker_would_refuse_is_refused_at_once(subtests: pytest.Subtests) -> None:
    for accepted, kind, table, sandboxes, problem in ROWS:
        with subtests.test(accepted=accepted, kind=kind, table=table, sandboxes=sorted(sandboxes)):
            declaration = make_declaration(policy=policy_fields(accepted_channels=accepted))
            dataset = make_dataset(declaration=declaration)
            there = {"kind": kind, "syscalls": table, "sandboxes": sandboxes}
            if not problem:
                check_channels(make_job_request(), dataset, **there)
                continue
            with pytest.raises(NotAllowed, match=problem) as caught:
                check_channels(make_job_request(), dataset, **there)
            assert "accepted_channels: [" in caught.value.problems[0].fix


def test_code_that_somebody_has_read_runs_anywhere() -> None:
    read = policy_fields(
        guarantees=["empirical"], reviewed_pipelines=[make_pipeline().digest], accepted_channels=[]
    )
    asked = make_job_request(mechanism={"name": "stability_calibrated", "noise_multiplier": 1})
    dataset = make_dataset(declaration=make_declaration(policy=read))
    check_channels(asked, dataset, kind=HOST, syscalls=STANDARD, sandboxes={"docker"})
