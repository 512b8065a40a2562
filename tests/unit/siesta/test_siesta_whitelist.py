import pytest

from companions.siesta.whitelist import read_whitelist
from dpgate.errors import DpgateError


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_and_empty_lines_are_passed_over(end):
    text = end.join(["# results", "", "derivatives/group/results.tsv", "a.csv", " ", "#b.txt", "é c.txt"])
    assert read_whitelist(text) == ("derivatives/group/results.tsv", "a.csv", "é c.txt")


A_LINE_THAT_IS_NO_PLAIN_PATH_IS_REFUSED_WITH_ITS_NUMBER = (
    ("../secret.tsv", "not a relative path"),
    ("a/../../secret.tsv", "not a relative path"),
    ("/etc/passwd.txt", "not a relative path"),
    ("./a.tsv", "not a relative path"),
    ("a//b.tsv", "not a relative path"),
    ("a\\b.tsv", "not a relative path"),
    ("x" * 250 + ".tsv", "not a relative path"),
    (" a.tsv", "white space"),
    ("a.tsv ", "white space"),
    ("a\tb.tsv", "control character"),
    ("a\rb.tsv", "control character"),
    ("a\x1b[31m.tsv", "control character"),
    ("a\u202evst.tsv", "control character"),
    ("a\u2028.tsv", "control character"),
    ("\ufeffa.tsv", "byte order mark"),
    ("results.xlsx", "supported are .tsv, .csv, .txt, .json, .npy, .mat, .nii"),
    ("mean.gz", "supported are .tsv, .csv, .txt"),
    ("folder", "supported are .tsv, .csv, .txt"),
    ("good.tsv", "repeats line 2"),
    ("good.tsv/b.tsv", "lies below"),
)


def test_a_line_that_is_no_plain_path_is_refused_with_its_number(subtests):
    for line, reason in A_LINE_THAT_IS_NO_PLAIN_PATH_IS_REFUSED_WITH_ITS_NUMBER:
        with (
            subtests.test(line=line, reason=reason),
            pytest.raises(DpgateError, match=rf"list\.txt, line 3, .*{reason}"),
        ):
            read_whitelist(f"# c\ngood.tsv\n{line}\n", name="list.txt")


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment"])
def test_a_list_of_nothing_is_refused(text):
    with pytest.raises(DpgateError, match="names no file"):
        read_whitelist(text)


def test_a_list_beyond_reason_is_refused():
    with pytest.raises(DpgateError, match="longer than"):
        read_whitelist("#" * 70_000)
