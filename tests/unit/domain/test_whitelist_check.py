"""A whitelist beside a manifest says the same as the manifest, line by line, or nothing runs."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
import yaml
from factories import manifest_fields

from domain.whitelist import check_whitelist, read_whitelist
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import load_pipeline

FILES = ("derivatives/group/results.tsv", "derivatives/group/maps.nii.gz")


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(FILES),
        "# may leave\r\n" + "\r\n".join(reversed(FILES)) + "\r\n\r\n",
    ],
)
def test_the_same_files_in_any_order(text: str) -> None:
    check_whitelist(text, FILES)


ANYTHING_ELSE_IS_REFUSED_WITH_ITS_LINE = (
    (f"{FILES[0]}\n{FILES[1]}\nmore.tsv\n", "line 3: more.tsv is not among the outputs of dpgate.yaml"),
    (
        f"#\n{FILES[0]}\n",
        r"derivatives/group/maps.nii.gz is an output in dpgate.yaml and not in whitelist",
    ),
    (f"{FILES[0]}\n../secret.tsv\n", "whitelist.txt, line 2, is not a relative path inside"),
    ("/etc/passwd.tsv\n", "line 1, is not a relative path inside"),
    (f"{FILES[0]}\n{FILES[1]}\n{FILES[0]}\n", "line 3, repeats line 1"),
    (
        f"{FILES[0]}\nresults.pdf\n",
        "line 2, names a kind of file that cannot be noised; supported are .tsv",
    ),
    (f"{FILES[0]} \n", "line 1, has white space"),
    ("\ufeff" + FILES[0], "line 1, starts with a byte order mark"),
    ("a.tsv\na.tsv/b.tsv", "line 2, lies below another line's path"),
    ("# nothing\n", "names no file"),
)


def test_anything_else_is_refused_with_its_line(subtests: pytest.Subtests) -> None:
    for text, words in ANYTHING_ELSE_IS_REFUSED_WITH_ITS_LINE:
        with subtests.test(text=text, words=words), pytest.raises(ValueError, match=words):
            check_whitelist(text, FILES)


def test_every_format_can_be_listed() -> None:
    ends = ("tsv", "csv", "txt", "json", "npy", "mat", "nii", "nii.gz")
    files = tuple(f"r.{end}" for end in ends)
    assert read_whitelist("\n".join(files)) == files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dpgate.yaml").write_text(yaml.safe_dump(manifest_fields()))
    return tmp_path


def test_a_folder_with_the_right_list_loads_and_brings_it_along(folder: Path) -> None:
    (folder / "whitelist.txt").write_text("# what may leave\nresult.tsv\n")
    (source,) = load_pipeline(folder).sources
    assert source["path"] == "whitelist.txt"
    assert base64.b64decode(source["content_base64"]).endswith(b"result.tsv\n")


def test_a_folder_with_another_list_is_refused(folder: Path) -> None:
    (folder / "whitelist.txt").write_text("other.tsv\n")
    with pytest.raises(DpgateError, match=r"whitelist.txt, line 1: other.tsv is not among the outputs"):
        load_pipeline(folder)


def test_a_list_that_is_no_text_is_refused(folder: Path) -> None:
    (folder / "whitelist.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(DpgateError, match="not UTF-8"):
        load_pipeline(folder)


@pytest.mark.parametrize("outputs", [None, []])
def test_a_list_without_outputs_says_how_to_write_them(folder: Path, outputs: list[str] | None) -> None:
    fields = {name: value for name, value in manifest_fields().items() if name != "outputs"}
    (folder / "dpgate.yaml").write_text(
        yaml.safe_dump(fields | ({} if outputs is None else {"outputs": outputs}))
    )
    (folder / "whitelist.txt").write_text("result.tsv\n")
    with pytest.raises(DpgateError, match=f"declares no outputs.*dpgate run {folder} --propose"):
        load_pipeline(folder)


@pytest.mark.parametrize("outputs", ["result.tsv", {"file": "result.tsv"}, [3]])
def test_outputs_that_are_no_list_are_left_to_the_manifests_own_check(folder: Path, outputs: object) -> None:
    (folder / "dpgate.yaml").write_text(yaml.safe_dump(manifest_fields(outputs=outputs)))
    assert load_pipeline(folder).manifest["outputs"] == outputs
