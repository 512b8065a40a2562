"""What an image may set for its pipelines."""

import pytest

from worker.images.environment import DEFAULT_PATH, filtered
from worker.images.refusal import ImageRefused


def test_what_programs_need_is_kept():
    kept = {
        "LANG": "C",
        "LC_ALL": "C",
        "JAVA_HOME": "/opt/java",
        "R_HOME": "/usr/lib/R",
        "CONDA_PREFIX": "/opt/c",
    }
    listed = tuple(f"{name}={value}" for name, value in kept.items())
    assert filtered(listed) == {**kept, "PATH": DEFAULT_PATH}
    assert filtered(("A=b=c",))["A"] == "b=c"


WHAT_CHANGES_OTHER_PROGRAMS_IS_LEFT_OUT = (
    *(
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "HTTP_PROXY",
        "https_proxy",
        "HOME",
        "TMPDIR",
        "LD_DEBUG",
        "BASH_ENV",
    ),
    *(
        "NODE_OPTIONS",
        "JAVA_TOOL_OPTIONS",
        "PERL5OPT",
        "GLIBC_TUNABLES",
        "lower-case",
        "1X",
        "",
        "DPGATE_X",
    ),
)


def test_what_changes_other_programs_is_left_out(subtests):
    for name in WHAT_CHANGES_OTHER_PROGRAMS_IS_LEFT_OUT:
        with subtests.test(name=name):
            assert filtered((f"{name}=x",)) == {"PATH": DEFAULT_PATH}


@pytest.mark.parametrize("name", ["LD_PRELOAD", "LD_AUDIT"])
def test_libraries_into_every_program_are_refused(name):
    with pytest.raises(ImageRefused, match=name):
        filtered((f"{name}=/lib/x.so",))


@pytest.mark.parametrize("name", ["PATH", "LD_LIBRARY_PATH"])
def test_folders_that_are_not_the_images_are_left_out(name):
    value = "/opt/x/bin:relative::.:/in:/in/bin:/tmp/x:/out:/pipeline:/proc/self/cwd:/usr/../in:/:/usr/bin"
    assert filtered((f"{name}={value}",))[name] == "/opt/x/bin:/usr/bin"


def test_a_list_with_nothing_left():
    assert filtered(("PATH=.", "LD_LIBRARY_PATH=/in")) == {"PATH": DEFAULT_PATH}


WHAT_NOBODY_SETS_IN_EARNEST_IS_REFUSED = (
    *(("A=1", "A=2"), ("A=x\ny",), ("A=\x1b[31m",), ("A=" + "x" * 9000,), ("A=" + "x" * 70_000,)),
    tuple(f"V{number}=x" for number in range(200)),
)


def test_what_nobody_sets_in_earnest_is_refused(subtests):
    for listed in WHAT_NOBODY_SETS_IN_EARNEST_IS_REFUSED:
        with subtests.test(listed=listed), pytest.raises(ImageRefused, match="the image sets"):
            filtered(listed)
