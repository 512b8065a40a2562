"""What a field of a request is called to a person: no path of JSON, which programs get beside it."""

from __future__ import annotations

# in a file stand the names as they are here
_FILES = {
    "pipeline.manifest": "dpgate.yaml",
    "declaration": "dataset.yaml",
    "policy": "policy",
    "dpgate.lock.json": "dpgate.lock.json",
}
# the parts of a request that a person sees as one with it
_WHOLE = ("pipeline", "mechanism", "query", "model")
# nobody filled these in: the sentence says all
_NAMES = {"body": "request"}
_NAMELESS = {"anyway", "authorization", "user", "state", "form", "session"}


_FILE_ENDINGS = (".csv", ".tsv", ".parquet", ".json", ".gz", ".nii", ".txt", ".md")


def place(field: str) -> str:
    """The field in words, or the delivered file as it is called; nothing where its name says nothing."""
    if "/" in field or (field not in _FILES and field.endswith(_FILE_ENDINGS)):
        return field
    for path, name in _FILES.items():
        if field == path or field.startswith(f"{path}."):
            return ", ".join([name, *_words(field[len(path) + 1 :], in_a_file=True)])
    for path in _WHOLE:
        field = field.removeprefix(f"{path}.")
    return "" if field in _NAMELESS else _NAMES.get(field) or ", ".join(_words(field))


def _words(path: str, *, in_a_file: bool = False) -> list[str]:
    """The parts of a path; a number in a list goes with what the list holds."""
    found: list[str] = []
    for part in path.split(".") if path else []:
        if part.isdigit() and found:
            found[-1] = f"{_one(found[-1])} {int(part) + 1}"
        else:
            found.append(part if in_a_file else part.replace("_", " "))
    return found


def _one(several: str) -> str:
    return f"{several[:-3]}y" if several.endswith("ies") else several.removesuffix("s")
