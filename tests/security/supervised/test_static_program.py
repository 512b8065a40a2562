"""A compiled program that needs the kernel alone, in an image with nothing in it, under the strict table."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_harness import SLOT, open_folder

from worker.sandbox.core.images import StoredImage
from worker.sandbox.protocol import Audience, Syscalls

PLACES = ("dev", "dev/shm", "etc", "in", "out", "pipeline", "proc", "run", "tmp")
# a mean over lines, with all that a program of some size would ask of the C library
SOURCE = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static double sum;
static int count;

static void *read_all(void *name) {
  FILE *file = fopen(name, "r");
  if (!file) return NULL;
  for (double value; fscanf(file, "%lf", &value) == 1; count++) sum += value;
  fclose(file);
  return name;
}

int main(int argc, char **argv) {
  int ends[2], status;
  double mean = -1;
  void *was_read;
  pthread_t reader;
  struct statvfs room;
  if (argc != 4 || pthread_create(&reader, NULL, read_all, "/in/values")) return 2;
  if (pthread_join(reader, &was_read) || !was_read) return 3;
  if (pipe(ends)) return 4;
  if (fork() == 0) {
    mean = sum / count;
    _exit(write(ends[1], &mean, sizeof mean) != sizeof mean);
  }
  if (wait(&status) < 0 || status || read(ends[0], &mean, sizeof mean) != sizeof mean) return 5;
  if (statvfs("/in", &room) || !tmpfile() || !realpath("/in/values", NULL)) return 6;
  FILE *out = fopen("/out/verdict", "w");
  fprintf(out, "%s %.2f", argv[3], mean);
  return fclose(out);
}
"""


@pytest.fixture
def empty() -> Iterator[StoredImage]:
    with open_folder() as root:
        for place in PLACES:
            (root / place).mkdir()
        yield StoredImage("empty", "sha256:0", root, "sha256:0", None)


@pytest.fixture
def program(tmp_path: Path) -> bytes:
    (tmp_path / "app.c").write_text(SOURCE)
    subprocess.run(
        ["gcc", "-O2", "-Wall", "-Werror", "-static", "-o", "app", "app.c"], cwd=tmp_path, check=True
    )
    return (tmp_path / "app").read_bytes()


@pytest.mark.parametrize("audience", Audience)
def test_a_static_program_runs_in_an_image_with_nothing_in_it(audience, empty, program, supervised, order):
    asked = order("", image=empty, code={"app": program}, command=("/pipeline/app",), audience=audience)
    assert asked.syscalls is Syscalls.STRICT
    with supervised.open_slot(asked, slot=SLOT) as slot:
        result = slot.run({"values": b"170.2\n165.7\n180\n"})
    assert result.outputs == {"verdict": b"participant 171.97"}, result.detail
