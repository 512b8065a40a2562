"""Attacks that no pipeline can make by itself, and the tests that make them."""

ELSEWHERE = {
    "loader and interpreter variables in a job's environment": (
        "tests/unit/domain/test_environment.py",
        "tests/unit/images/test_image_environment.py",
    ),
    "a tag in place of an image's digest": (
        "tests/integration/docker/test_docker_images.py::test_tags_are_refused",
    ),
    "source files that lead out of their folder": (
        "tests/unit/domain/test_bad_input.py::test_is_refused_by_name",
        "tests/security/supervised/test_supervised_runs.py::test_bad_order_is_refused",
    ),
    "image archives that lead out of their folder": ("tests/security/test_hostile_archives.py",),
    "many jobs at once, to exceed a budget": (
        "tests/integration/gateway/test_submit.py::test_the_budget_holds_against_many_at_once",
    ),
    "a job that is cancelled mid-run": (
        "tests/security/supervised/test_supervisor_deaths.py::test_cancelled_during_a_run",
        "tests/integration/worker/test_mending.py::test_cancelled_while_blocks_run_the_charge_stands_and_nothing_is_kept",
        "tests/integration/docker/test_docker_leftovers.py::test_cancel_ends_a_run_at_once",
    ),
    "a worker that is killed mid-run": (
        "tests/security/supervised/test_supervised_leftovers.py::test_a_killed_worker_leaves_no_process_and_its_scratch_is_reaped",
        "tests/integration/docker/test_docker_leftovers.py::test_a_killed_worker_is_cleaned_up_after",
        "tests/functional/faults/test_killed_workers.py::test_a_worker_killed_mid_run_acknowledged_nothing",
    ),
    "data in logs and error texts": (
        "tests/security/test_error_texts.py",
        "tests/security/test_observable_life.py::test_loud_logs_tell_neither_data_nor_durations",
    ),
    "outputs of runs in Redis, as messages or results": (
        "tests/security/test_observable_life.py::test_two_data_sets_that_differ_in_one_person_look_the_same",
    ),
}
