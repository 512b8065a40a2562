"""Whatever is wrong, a command says so in a sentence, with its own exit code, and nothing is charged."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from strange_server import StrangeServer
from terminal import MEAN, Answer, Platform, Terminal, data_folder, pipeline_folder, ready_pipeline, terminal

from dpgate.cli.exit_codes import ExitCode
from dpgate.credentials import Login

FOUR = MEAN.replace("mean_age\\n%s", "mean_age\\n%s\\n1\\n2\\n3")


def refused(answer: Answer, code: ExitCode, *words: str) -> None:
    assert answer.code == code, answer
    said = " ".join((answer.err + answer.out).split())
    assert "Traceback" not in said
    for word in words:
        assert word in said


@pytest.fixture(scope="session")
def locked(one_platform: Platform) -> Path:
    return ready_pipeline(one_platform, "ages", "locked")


def change(folder: Path, **fields: object) -> None:
    path = folder / "dpgate.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    path.write_text(yaml.safe_dump(content | fields), encoding="utf-8")


BAD_MANIFESTS: dict[str, tuple[str, str]] = {
    "no YAML": ("name: [", "is not valid YAML"),
    "a tab": ("name: a\n\timage: b\n", "is not valid YAML: line 2: begins with a tab: indent with spaces"),
    "no mapping": ("- a\n- b\n", "must hold `name: value` lines"),
    "a name twice": ("name: a\nname: b\n", "'name' stands twice"),
    "a bomb of brackets": ("[" * 100_000, "nested too deeply"),
    "Python": ("!!python/object/apply:os.system [id]", "is not valid YAML"),
}


def test_a_manifest_that_cannot_be_read(shell: Terminal, subtests: pytest.Subtests) -> None:
    folder = pipeline_folder(shell.folder / "p")
    for case, (text, words) in BAD_MANIFESTS.items():
        with subtests.test(msg=case):
            (folder / "dpgate.yaml").write_text(text, encoding="utf-8")
            refused(shell("run", folder), ExitCode.USAGE, words)


BAD_FIELDS: dict[str, tuple[dict[str, object], str]] = {
    "unknown key": ({"colour": "blue"}, "colour: is not a known field"),
    "inverted bounds": (
        {"outputs": [{"file": "r.csv", "values": [{"name": "a", "lower": 2, "upper": 1}]}]},
        "lower must be less than upper",
    ),
    "NaN bound": (
        {"outputs": [{"file": "r.csv", "values": [{"name": "a", "lower": float("nan"), "upper": 1}]}]},
        "finite number",
    ),
    "output outside": (
        {"outputs": [{"file": "../r.csv", "values": [{"name": "a", "lower": 0, "upper": 1}]}]},
        "must stay inside its folder",
    ),
    "no command": ({"command": []}, "dpgate.yaml, command: "),
}


def test_a_manifest_with_a_wrong_field(shell: Terminal, subtests: pytest.Subtests) -> None:
    for case, (fields, words) in BAD_FIELDS.items():
        with subtests.test(msg=case):
            folder = pipeline_folder(shell.folder / case, **fields)
            refused(shell("run", folder), ExitCode.USAGE, words)
            assert "error" in shell("run", folder, "--json").json


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 * 1024**3)


BAD_FOLDERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no manifest": (lambda folder: (folder / "dpgate.yaml").unlink(), "no dpgate.yaml; a pipeline needs one"),
    "a manifest of 10 GB": (lambda folder: sparse(folder / "dpgate.yaml"), "is larger than"),
    "a manifest that is a pipe": (
        lambda folder: ((folder / "dpgate.yaml").unlink(), os.mkfifo(folder / "dpgate.yaml")),
        "is not a file",
    ),
    "a manifest in Latin-1": (
        lambda folder: (folder / "dpgate.yaml").write_bytes(b"name: caf\xe9"),
        "is not UTF-8 text; save it as UTF-8",
    ),
    "a source of 10 GB": (lambda folder: sparse(folder / "big.bin"), "exceed 1024 KiB"),
    "a thousand files": (
        lambda folder: [(folder / f"f{number}").touch() for number in range(1000)],
        "more than 256 files",
    ),
    "a link": (lambda folder: (folder / "passwd").symlink_to("/etc/passwd"), "is a link"),
    "a linked folder": (lambda folder: (folder / "etc").symlink_to("/etc"), "is a link"),
    "a pipe": (lambda folder: os.mkfifo(folder / "pipe"), "not a plain file"),
    "not there": (shutil.rmtree, "is no folder; a pipeline needs one"),
}


def test_a_folder_that_is_no_pipeline(shell: Terminal, subtests: pytest.Subtests) -> None:
    for case, (spoil, words) in BAD_FOLDERS.items():
        with subtests.test(msg=case):
            folder = pipeline_folder(shell.folder / case)
            spoil(folder)
            refused(shell("run", folder), ExitCode.USAGE, words)


BAD_PIPELINES: dict[str, tuple[str, dict[str, object], tuple[str, ...]]] = {
    "fails": ("raise SystemExit('no such column: height')", {}, ("exit code 1", "no such column: height")),
    "other count": (FOUR, {}, ("holds 4 numbers", "declares 1", "mean_age")),
    "nothing": ("pass", {}, ("result.csv",)),
    "sleeps": ("import time; time.sleep(60)", {"resources": {"wall_seconds": 0.3}}, ("after 0.",)),
    "escapes the terminal": ("raise SystemExit('\\x1b]0;owned\\x07 [bold]bad')", {}, ("[bold]bad",)),
}


def test_a_pipeline_that_fails_on_the_twin(one_platform: Platform, subtests: pytest.Subtests) -> None:
    ada = one_platform.ada
    ada.ok("twin", "ages", "-o", "twin-bad")
    for case, (code, fields, words) in BAD_PIPELINES.items():
        with subtests.test(msg=case):
            folder = pipeline_folder(ada.folder / f"bad {case}", code, **fields)
            answer = ada("run", folder, "--twin", "twin-bad", "--block-size", 3)
            refused(answer, ExitCode.PIPELINE_FAILED, *words)
            assert "\x1b]" not in answer.err
            assert not (folder / "dpgate.lock.json").exists()


def test_a_command_that_cannot_start_says_what_to_change_and_nothing_else(one_platform: Platform) -> None:
    ada = one_platform.ada
    ada.ok("twin", "ages", "-o", "twin-commands")
    for case, command, words in (
        ("windows", ["/pipeline/main.py"], "save it with LF alone"),
        ("misspelt", ["python3", "/pipeline/man.py"], "which its command names; it has main.py"),
    ):
        folder = pipeline_folder(ada.folder / case, "#!/bin/sh\r\n", command=command)
        (folder / "main.py").write_bytes(b"#!/bin/sh\r\ntrue\r\n")
        answer = ada("run", folder, "--twin", "twin-commands")
        refused(answer, ExitCode.USAGE, words)
        assert "bring one" not in answer.err
        assert "it has python3" not in answer.err


def test_who_counts_people_is_told_that_blocks_hold_fewer(one_platform: Platform) -> None:
    ada = one_platform.ada
    ada.ok("twin", "ages", "-o", "twin-counts")
    counts = MEAN.replace("(sum(ages) / len(ages))", "len(ages)")
    bounds = [{"file": "result.csv", "values": [{"name": "people", "lower": 0, "upper": 12}]}]
    for case, code, fields in (("counts", counts, {"outputs": bounds}), ("means", MEAN, {})):
        folder = pipeline_folder(ada.folder / case, code, **fields)
        answer = ada("run", folder, "--twin", "twin-counts", "--block-size", 3)
        assert answer.code == 0, answer.err
        said = "on average over its blocks; what is released" in " ".join(answer.err.split())
        assert said is (case == "counts")


BAD_REQUESTS = (
    (["--epsilon", "0"], "epsilon"),
    (["--epsilon", "nan"], "epsilon"),
    (["--epsilon", "inf"], "epsilon"),
    (["--epsilon=-1"], "epsilon"),
    (["--epsilon", "much"], "epsilon"),
    (["--epsilon", "1e-9"], "epsilon"),
    (["--epsilon", "3"], "policy"),
    (["--epsilon", "1", "--block-size", "0"], "block"),
    (["--epsilon", "1", "--block-size", "100"], "block size: "),
    (["--epsilon", "1", "--job-id", "../../x"], "job id: "),
    (["--epsilon", "1", "--dataset", "No Name"], "the data set No Name"),
)


def test_a_request_that_cannot_be_taken(
    one_platform: Platform, locked: Path, subtests: pytest.Subtests
) -> None:
    ada = one_platform.ada
    before = ada.ok("budget", "ages", "--json").json, ada.ok("status", "--json").json
    for options, words in BAD_REQUESTS:
        with subtests.test(msg=" ".join(options)):
            refused(ada("submit", locked, *options), ExitCode.USAGE, words)
            answer = ada("submit", locked, *options, "--json")
            assert answer.json["exit_code"] == ExitCode.USAGE == answer.code
            assert words in answer.json["error"]
            now = ada.ok("budget", "ages", "--json").json, ada.ok("status", "--json").json
            assert now == before


def test_a_request_for_what_is_not_there(one_platform: Platform, locked: Path) -> None:
    ada = one_platform.ada
    refused(
        ada("query", "submit", "{kind: count}", "--epsilon", "1", "--dataset", "nowhere"), ExitCode.NOT_FOUND
    )
    refused(ada("result", "no-such-job"), ExitCode.NOT_FOUND)
    refused(ada("budget", "../users"), ExitCode.NOT_FOUND)
    refused(ada("twin", "nowhere", "-o", "nothing"), ExitCode.NOT_FOUND)
    assert not (ada.folder / "nothing").exists()


def test_a_pipeline_that_changed_since_its_run_on_the_twin(one_platform: Platform) -> None:
    ada = one_platform.ada
    folder = ready_pipeline(one_platform, "ages", "changing")
    (folder / "main.py").write_text("print('other')", encoding="utf-8")
    for command in (["submit", folder, "--epsilon", "1"], ["preview", folder]):
        refused(ada(*command), ExitCode.USAGE, "has changed since", "dpgate run")
    (folder / "dpgate.lock.json").write_text('{"dataset": 7}', encoding="utf-8")
    refused(ada("preview", folder), ExitCode.USAGE, "dpgate.lock.json, dataset: ")
    (folder / "dpgate.lock.json").unlink()
    refused(ada("preview", folder), ExitCode.USAGE, "run the pipeline on the twin first")


def test_a_lock_without_its_seal(one_platform: Platform) -> None:
    folder = ready_pipeline(one_platform, "ages", "unsealed")
    lock = folder / "dpgate.lock.json"
    content = json.loads(lock.read_text(encoding="utf-8"))
    del content["seal"]
    lock.write_text(json.dumps(content), encoding="utf-8")
    said = ("was changed since", "dpgate run")
    refused(one_platform.ada("submit", folder, "--epsilon", "1"), ExitCode.USAGE, *said)


def test_an_image_that_nobody_allowed(one_platform: Platform) -> None:
    one_platform.dataset("imaged", images=["other-image"])
    folder = ready_pipeline(one_platform, "imaged", "image")
    refused(
        one_platform.ada("submit", folder, "--epsilon", "1"), ExitCode.NOT_ALLOWED, "does not allow the image"
    )


def test_a_limit_beyond_the_policy(one_platform: Platform) -> None:
    one_platform.dataset("modest", max_memory_mib=256)
    folder = ready_pipeline(one_platform, "modest", "hungry")
    answer = one_platform.ada("submit", folder, "--epsilon", "1")
    refused(
        answer,
        ExitCode.USAGE,
        "dpgate.yaml, resources, memory_mib: 512",
        "512 is over the policy's 256",
        "Use 256 or less.",
    )


def test_more_than_the_budget(one_platform: Platform) -> None:
    one_platform.dataset("poor", max_epsilon_per_job=10)
    folder = ready_pipeline(one_platform, "poor", "greedy")
    answer = one_platform.ada("submit", folder, "--epsilon", "6", "--json")
    assert answer.json["exit_code"] == ExitCode.OVER_BUDGET == answer.code
    assert one_platform.ada.ok("budget", "poor", "--json").json["accounts"][0]["left"] == "5"


def latin(data: Path) -> None:
    (data / "people.csv").write_bytes(b"person,age\np\xe9,3\n")


def twice(data: Path) -> None:
    table = data / "people.csv"
    table.write_text(table.read_text(encoding="utf-8") + "p01,9\n", encoding="utf-8")


BAD_DATA: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (shutil.rmtree, "there is no folder"),
    "no unit column": (
        lambda data: (data / "people.csv").write_text("id,age\np1,3\n", encoding="utf-8"),
        "person column",
    ),
    "a person without a name": (
        lambda data: (data / "people.csv").write_text("person,age\n,3\n", encoding="utf-8"),
        "names no person",
    ),
    "the same person twice": (twice, "p01"),
    "not UTF-8": (latin, "UTF-8"),
    "a link": (lambda data: (data / "more.csv").symlink_to("/etc/passwd"), "a link"),
    "a file that nobody declared": (lambda data: (data / "notes.txt").touch(), "neither declared"),
}


def test_data_that_do_not_fit_their_declaration(
    one_platform: Platform, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    holder, deliveries = one_platform.holder, one_platform.stack.home.deliveries
    before = set(deliveries.iterdir())
    for case, (spoil, words) in BAD_DATA.items():
        with subtests.test(msg=case):
            data, declaration = data_folder(tmp_path / case, name="spoilt")
            spoil(data)
            refused(holder("dataset", "check", data, "-d", declaration), ExitCode.USAGE, words)
            add = ["dataset", "add", data, "-d", declaration, "--deliveries", deliveries]
            refused(holder(*add), ExitCode.USAGE, words)
            assert holder(*add, "--json").json["exit_code"] == ExitCode.USAGE
            # nothing new; what another test delivered, the worker may remove meanwhile
            assert set(deliveries.iterdir()) <= before


def test_data_that_fit_but_cannot_be_delivered(one_platform: Platform, tmp_path: Path) -> None:
    data, declaration = data_folder(tmp_path)
    one_platform.holder.ok("dataset", "check", data, "-d", declaration)
    answer = one_platform.holder("dataset", "add", data, "-d", declaration, "--deliveries", tmp_path / "none")
    refused(answer, ExitCode.USAGE, "there is no deliveries folder")


def test_values_beyond_their_bounds_are_named_and_come_in(one_platform: Platform, tmp_path: Path) -> None:
    data, declaration = data_folder(tmp_path, name="beyond")
    with (data / "people.csv").open("a", encoding="utf-8") as file:
        file.write("p77,172\n")
    words = "people.csv, age: 1 of 13 values are no integer from 0 to 100, such as 172 in line 14."
    holder, deliveries = one_platform.holder, one_platform.stack.home.deliveries
    for command in (("check", data), ("add", data, "--deliveries", deliveries)):
        assert words in holder.ok("dataset", *command, "-d", declaration).out
    assert (
        holder.ok("dataset", "check", data, "-d", declaration, "--json").json["outside"][0].startswith(words)
    )


def test_a_twin_never_replaces_something_else(one_platform: Platform) -> None:
    folder = one_platform.ada.folder / "thesis"
    folder.mkdir()
    (folder / "people.csv").write_text("mine", encoding="utf-8")
    refused(one_platform.ada("twin", "ages", "-o", "thesis"), ExitCode.USAGE, "holds other files")
    assert (folder / "people.csv").read_text(encoding="utf-8") == "mine"


def test_a_twin_that_was_changed(one_platform: Platform, locked: Path) -> None:
    ada = one_platform.ada
    ada.ok("twin", "ages", "-o", "twin-cut")
    (ada.folder / "twin-cut" / "people.csv").write_text("nothing\n", encoding="utf-8")
    refused(ada("run", locked, "--twin", "twin-cut"), ExitCode.USAGE, "fetch the twin again")
    refused(ada("run", locked, "--twin", "no-twin"), ExitCode.USAGE, "holds no twin")


def test_wrong_words(one_platform: Platform, locked: Path) -> None:
    ada = one_platform.ada
    refused(ada("preview", locked, "--want", "nothing=1"), ExitCode.USAGE, "mean_age")
    refused(ada("preview", locked, "--want", "mean_age=soon"), ExitCode.USAGE, "OUTPUT=ERROR")
    refused(ada("preview", locked, "--want", "mean_age=1e-300"), ExitCode.USAGE, "no epsilon reaches this")
    refused(ada("decide", "job", "perhaps"), ExitCode.USAGE, "'withhold'")
    refused(ada("allot", "ages", "--epsilon", "1"), ExitCode.USAGE, "--user or --project")
    refused(
        ada("allot", "ages", "--epsilon", "1", "--user", "ada"), ExitCode.NOT_ALLOWED, "only rights holders"
    )
    refused(ada("verify", "nowhere.json"), ExitCode.USAGE, "there is no nowhere.json; check its path")
    # what `dpgate result JOB --json > FILE` leaves where there is no such release, and any other file
    for held in ('{"error": "job: there is no such job that you may see.", "exit_code": 4}', "[]", "7"):
        (ada.folder / "held.json").write_text(held, encoding="utf-8")
        refused(ada("verify", "held.json"), ExitCode.USAGE, "held.json holds no release; this writes one")
    assert ada("flying", "--json").json["exit_code"] == ExitCode.USAGE


def test_something_that_is_not_dpgate(shell: Terminal, other_server: str, subtests: pytest.Subtests) -> None:
    for path in ("html", "odd", "away"):
        with subtests.test(msg=path):
            StrangeServer.seen.clear()
            login = ["login", "--url", f"{other_server}/{path}", "--token", "dpgate.1.secret"]
            refused(shell(*login), ExitCode.NOT_READY, "not dpgate; check the address of your login")
            assert shell(*login, "--json").json["exit_code"] == ExitCode.NOT_READY
            # a redirect was not followed, so its target saw no token
            assert len(StrangeServer.seen) == 2
            assert not (shell.folder / "credentials.json").exists()


def test_no_server_and_no_login(shell: Terminal) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"  # held, so that nobody else listens there
        login = ("login", "--url", url, "--token", "t")
        refused(shell(*login), ExitCode.NOT_READY, f"no dpgate answers at {url} (ConnectError); check the")
        refused(shell("login", "--url", url, "--token", "s\N{SNOWMAN}t"), ExitCode.USAGE, "copy it again")
    # a next step that can be typed: `dpgate login` alone is refused for want of an address
    refused(
        shell("datasets"), ExitCode.NOT_ALLOWED, "dpgate login --url https://dpgate.example.org", "dpgate up"
    )
    refused(shell("login", "--url", "dpgate.example.org", "--token", "t"), ExitCode.USAGE, "is no address")


def test_a_wrong_token(one_platform: Platform, tmp_path: Path) -> None:
    stranger = terminal(tmp_path, Login(one_platform.stack.url, "dpgate.0123.wrong-secret"))
    refused(stranger("datasets"), ExitCode.NOT_ALLOWED, "The token is not valid")
    refused(stranger("login"), ExitCode.NOT_ALLOWED, "The token is not valid")
    assert "wrong-secret" not in json.dumps(stranger("datasets", "--json").json)
