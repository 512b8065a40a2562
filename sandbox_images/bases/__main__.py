"""`python -m sandbox_images.bases build NAME --out FILE`: prints the image's digest."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sandbox_images.bases.build import build
from sandbox_images.bases.command import CannotBuild
from sandbox_images.bases.recipe import RECIPES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sandbox_images.bases", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    builder = commands.add_parser("build", help="build one base image from Debian packages and PyPI wheels")
    builder.add_argument("name", choices=sorted(RECIPES))
    builder.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the archive goes")
    asked = parser.parse_args()
    try:
        built = build(asked.name, asked.out.absolute())
    except CannotBuild as problem:
        print(f"cannot build {asked.name}: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"stopped building {asked.name}", file=sys.stderr)
        return 130
    print(f"{built.archive} {built.digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
