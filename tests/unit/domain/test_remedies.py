"""What a pipeline said on the twin becomes what to do about it, where that is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.remedies import Place, remedy

PLACE = Place("python-stats", {"people.csv": ("person", "age", "sex"), "visits.csv": ("person", "pulse")})

SAID = (
    ("ModuleNotFoundError: No module named 'sklearn'", "The image python-stats has no sklearn."),
    ("there is no package called \u2018lme4\u2019", "The image python-stats has no lme4."),
    ("/pipeline/app.sh: 1: cannot create /out/t/a: Permission denied", "What it copied has the mode"),
    ("cp: setting permissions for '/out/t': Operation not supported", "What it copied has the mode"),
    ("PermissionError: [Errno 13] Permission denied: '/out/t/a'", "What it copied has the mode"),
    ("/pipeline/app.sh: line 1: wget: not found", "A run has no network."),
    ("/pipeline/app.sh: 1: ping: not found", "A run has no network."),
    ("curl: (6) getaddrinfo() thread failed to start", "A run has no network."),
    ("app.sh: 1: cannot create /dev/tcp/192.0.2.1/80: Directory nonexistent", "A run has no network."),
    ("error: externally-managed-environment\n\nhint: See PEP 668.", "A run has no network."),
    ("bash: line 3: curl: command not found", "A run has no network."),
    ("sh: 1: fslmaths: not found", "The image python-stats has no command fslmaths."),
    ("bash: line 1: jq: command not found", "The image python-stats has no command jq."),
    (
        "app: error while loading shared libraries: libGL.so.1: cannot",
        "The image python-stats has no libGL.so.1.",
    ),
    (
        "KeyError: 'Age'",
        "There is no column Age: do you mean age? people.csv has person, age, sex; visits.csv",
    ),
    ("KeyError: \"['puls'] not in index\"", "do you mean pulse?"),
    ("Error: object 'SEX' not found", "do you mean sex?"),
    ("KeyError: 'blood_group'", "If blood_group is to be a column, there is none of that name"),
    ("No such file or directory: '/home/me/x.csv'", "A run sees no /home/me/x.csv"),
    ("cannot open file 'people.tsv': No such file", "There is no people.tsv where the run works."),
    ("No such file or directory: '/in/person.csv'", "Of the input there are people.csv, visits.csv."),
    ("urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>", "A run has no network."),
    ("OSError: [Errno 30] Read-only file system: '/pipeline/x'", "A run can write below its second argument"),
    (
        "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) access permission denied\n[SQL: x]",
        "the image must be approved for the standard one",
    ),
    (
        "AttributeError: '_UnixSelectorEventLoop' object has no attribute '_ssock'",
        "It makes pairs of sockets",
    ),
    ("thread 'main' panicked:\nfailed to create UnixStream: Os { code: 1 }", "It makes pairs of sockets"),
    (
        "error: unable to open macros.texi for reading\nerror: called from\n    __makeinfo__ at line 116\n"
        "    __unimplemented__ at line 532 column 9\n    pipeline at line 159 column 14",
        "It calls a function of MATLAB that Octave does not have",
    ),
    ("OSError: [Errno 97] Address family not supported by protocol", "A run has no network."),
    ("# Fatal process out of memory: Oilpan: CagedHeap reservation.", "It reserves many GiB of addresses"),
    ("Error: cannot allocate vector of size 2.0 Gb", "raise resources.memory_mib"),
    ("statistics.StatisticsError: mean requires at least one data point", "It does not cope with so few"),
    ("ZeroDivisionError: division by zero", "It does not cope with so few people."),
    (
        "  d = sys.argv[3]\n        ~~~~~~~~^^^\nIndexError: list index out of range",
        "The command gets the input",
    ),
    (
        "usage: app.py [-h] {participant,group} bids_dir output_dir",
        "unless `{in}`, `{out}` and `{level}` in it",
    ),
    (
        "python3: can't open file '/tmp/app.py': [Errno 2] No such file or directory",
        "names it /pipeline/app.py",
    ),
    ("Fatal error: cannot open file 'main.R': No such file or directory", "names it /pipeline/main.R"),
    ("sh: x\nUsage: ./app.sh LEVEL IN OUT", "The command gets the input"),
    (
        "usage: app.py [-h] in out {participant1,group1}\napp.py: error: argument analysis_level: "
        "invalid choice: 'participant' (choose from 'participant1', 'group1')",
        "An app that has other words for its levels",
    ),
    ("ValueError: could not convert string to float: 'n/a'", "n/a stands for a value that is missing"),
    ("invalid literal for int() with base 10: 'n/a'", "n/a stands for a value that is missing"),
    ("EOFError: EOF when reading a line", "Nobody answers where a run asks"),
    (
        "File \"/pipeline/a.ipynb\", line 1, in <module>\nNameError: name 'null' is not defined",
        "A notebook is no script",
    ),
    ("_tkinter.TclError: no display name and no $DISPLAY environment variable", "A run has no screen"),
    ("unable to open connection to X11 display ''", "A run has no screen"),
    ("No such file or directory: '/tmp/twin/people.csv'", "a run has a /tmp of its own"),
    ("cat: /tmp/keep.tsv: No such file or directory", "what another level is to find below the second."),
    ("cat: can't open '/tmp/keep.tsv': No such file or directory", "a run has a /tmp of its own"),
    (
        "app.sh: line 9: /dev/fd/63: No such file or directory\ncp: cannot stat '/tmp/a'",
        "Names below /dev/fd, as bash makes",
    ),
    ("ls: cannot access '/data/bids': No such file or directory", "A run sees no /data/bids, nor anything"),
    ("usage: app.py bids_dir out level\nNo module named 'bids'", "has no bids"),
)


def test_the_usual_mistakes_are_recognised(subtests: pytest.Subtests) -> None:
    before = "Traceback (most recent call last):\n  line 3\n"
    for said, told in SAID:
        with subtests.test(said=said[:40]):
            assert told in remedy(before + said, PLACE)


def test_another_image_that_has_it_is_named() -> None:
    asked: list[str] = []
    place = replace(PLACE, images_with=lambda name: asked.append(name) or ("r", "r-new"))
    assert remedy("there is no package called 'lme4'", place).endswith(
        "r, r-new have it: name that image instead."
    )
    place = replace(PLACE, images_with=lambda name: asked.append(name) or ("fsl",))
    assert remedy("sh: 1: bet: not found", place).endswith("fsl has it: name that image instead.")
    assert asked == ["lme4", "bet"]


def test_what_is_not_known_is_left_alone() -> None:
    for said in ("", "ValueError: bad luck", "KeyError: 'age'", "IndexError: list index out of range"):
        assert remedy(said, PLACE) == ""


def test_what_was_said_last_counts_and_long_names_are_cut() -> None:
    said = "No module named 'optional'\nhandled\nNo module named 'needed'"
    assert "has no needed" in remedy(said, PLACE)
    assert len(remedy(f"No module named '{'x' * 10_000}'", PLACE)) < 300
