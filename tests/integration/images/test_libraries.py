"""The interpreter and the libraries of each base image at work, under the strict table of system calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from in_image import run_in_image

TreeOf = Callable[[str], Path]

PYTHON = """
import io, numpy, pandas, scipy.stats, sklearn.linear_model, pyarrow.parquet, ssl, sqlite3, lzma, readline
import h5py, nibabel, statsmodels.formula.api
days = pandas.date_range("2026", periods=4, tz="Europe/Amsterdam")
table = pandas.DataFrame({"x": [1.0, 2, 3, 4], "y": [2.0, 4, 6, 8], "t": days})
table.to_parquet("/tmp/t.parquet")
model = sklearn.linear_model.LinearRegression().fit(table[["x"]], table.x * 2)
print(pandas.read_parquet("/tmp/t.parquet").x.mean(), scipy.stats.norm.cdf(0), round(model.coef_[0], 6))
print(round(statsmodels.formula.api.ols("y ~ x", table).fit().params["x"], 6))
nibabel.save(nibabel.Nifti1Image(numpy.ones((2, 3, 4)), numpy.eye(4)), "/tmp/v.nii.gz")
print(nibabel.load("/tmp/v.nii.gz").get_fdata().sum())
with h5py.File("/tmp/t.h5", "w", locking=False) as file:
    file["x"] = [1, 2]
    print(file["x"][:].sum())
import sys; print(numpy.__cached__.startswith("/usr/local/lib/python3.11/"), sys.flags.dont_write_bytecode)
"""
R = """
suppressMessages({library(jsonlite); library(data.table); library(dplyr); library(optparse)})
suppressMessages({library(nlme); library(lme4); library(Rniftilib)})
people <- data.table(sex = c("f", "m", "f"), height = c(1, 2, 4))
cat(people[, mean(height), by = sex]$V1, (people %>% summarise(most = max(height)))$most, "\\n")
cat(toJSON(fread(cmd = "echo 'a,b'; echo 1,2")), round(coef(lm(height ~ sex, people))[[1]], 6), "\\n")
squares <- parallel::mclapply(1:3, function(i) i^2, mc.cores = 2)
cat(unlist(squares), iconv("caf\\xe9", "latin1", "UTF-8"), "\\n")
model <- lmer(Reaction ~ Days + (Days | Subject), sleepstudy)
cat(round(fixef(model)[["Days"]], 2), round(fixef(lme(distance ~ age, Orthodont))[["age"]], 2), "\\n")
cat(nifti.compiled.with.zlib(), "\\n")
"""
OCTAVE = """
x = [1 2; 3 4]; s.a = 1.5;
for form = {'-v4', '-v6', '-v7'}
  save (form{1}, '/tmp/a.mat', 'x'); y = load ('/tmp/a.mat'); printf ('%g ', y.x(2, 1));
end
save ('-v7', '/tmp/s.mat', 's'); gzip ('/tmp/s.mat'); gunzip ('/tmp/s.mat.gz', '/tmp/un');
printf ('%g\\n', load ('/tmp/un/s.mat').s.a);
printf ('%g %g %g\\n', sum (fft (1:4)), (x \\ [1; 2])(2), sum (sparse (eye (3)) \\ [1; 2; 3]));
printf ('%.3f %d\\n', ode45 (@(t, y) -y, [0 1], 1).x(end), rows (delaunay ([0 1 0 1], [0 0 1 1])));
printf ('%s %g\\n', jsonencode (struct ('a', [1 2])), jsondecode ('{"q":[1,2]}').q(2));
"""


@pytest.mark.parametrize(
    ("name", "command", "source", "printed"),
    [
        ("python", "python3", PYTHON, ["2.5 0.5 2.0", "2.0", "24.0", "3", "True 0"]),
        ("r", "Rscript", R, ["2.5 2 4", '[{"a":1,"b":2}] 2.5', "1 4 9 café", "10.47 0.66", "TRUE"]),
        (
            "octave",
            "octave-cli",
            OCTAVE,
            ["3 3 3 1.5", "4 0.5 6", "1.000 2", '{"a":[1,2]} 2'],
        ),
    ],
)
def test_libraries_work(
    name: str, command: str, source: str, printed: list[str], tree_of: TreeOf, tmp_path: Path
) -> None:
    (tmp_path / "main").write_text(source)
    said = run_in_image(tree_of(name), [command, "/pipeline/main"], {tmp_path: "/pipeline"})
    assert [line.strip() for line in said.splitlines()] == printed
