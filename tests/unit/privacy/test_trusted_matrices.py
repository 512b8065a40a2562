"""Covariances and regressions from noised moments, and the exact algebra under them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.grid import OutputGrid
from privacy.loss import MICRO
from privacy.trusted import Covariance, LinearRegression
from privacy.trusted.exact_linear import is_positive_definite, plus_diagonal, solve
from privacy.trusted.moments import UNIT

X, Y, Z = OutputGrid.build(-1, 1), OutputGrid.build(-3, 3), OutputGrid.build(10, 20)
small = st.integers(-9, 9).map(Fraction)


def totals_of(query, columns):
    """Exact sums over many rows at once: the same integers as `contribution`, in numpy."""
    units = [
        np.clip(np.floor((values - float(grid.lower)) / float(grid.step)), 0, grid.cells).astype(np.int64)
        for values, grid in zip(columns, query.grids, strict=True)
    ]
    scaled = [
        (2 * UNIT * each + grid.cells // 2) // grid.cells - UNIT
        for each, grid in zip(units, query.grids, strict=True)
    ]
    products = [
        2 * scaled[i] ** 2 - UNIT**2 if i == j else scaled[i] * scaled[j] for i, j in query.moments.pairs
    ]
    return [len(units[0]), *(int(part.sum()) for part in (*scaled, *products))]


def a_line(n, *, seed=0):
    """The data of the privacy design's comparison: 3 features and an intercept, y within the bounds."""
    rng = np.random.default_rng(seed)
    features = rng.uniform(-1, 1, size=(3, n))
    truth = np.array([0.3, 1.0, -0.5, 0.25])
    target = truth[0] + truth[1:] @ features + 0.3 * rng.normal(size=n)
    return [*features, target], truth


def test_the_totals_of_these_tests_are_the_sums_of_contributions():
    columns = [np.array([-0.5, 0.25, 1.0]), np.array([-3.0, 0.1, 2.0])]
    query = Covariance((X, Y), micro_epsilon=MICRO)
    rows = [
        [grid.snap(float(value)) for value, grid in zip(row, (X, Y), strict=True)]
        for row in zip(*columns, strict=True)
    ]
    summed = [sum(query.contribution(row)[place] for row in rows) for place in range(query.width)]
    assert totals_of(query, columns) == summed


@given(st.integers(0, X.cells), st.integers(0, Y.cells), st.sampled_from([Covariance, LinearRegression]))
def test_no_row_adds_more_than_its_bound(x, y, kind):
    query = kind((X, Y), micro_epsilon=MICRO)
    added = query.contribution([x, y])
    assert sorted(added) == list(range(query.width))
    assert all(abs(added[place]) <= bound for place, bound in enumerate(query.moments.noisy.bounds))


def test_the_bounds_are_reached():
    query = Covariance((X, Y), micro_epsilon=MICRO)
    corners = [query.contribution([x, y]) for x in (0, X.cells) for y in (0, Y.cells)]
    for place, bound in enumerate(query.moments.noisy.bounds):
        assert max(abs(corner[place]) for corner in corners) == bound


def test_noise_grows_with_the_number_of_entries():
    """privacy design, section 1e: the L1 sensitivity is the number of entries."""
    assert Covariance((X, Y, Z), micro_epsilon=MICRO).parameters()["relative_noise_scale"] == "10"
    regression = LinearRegression((X, Y, Z), micro_epsilon=2 * MICRO, rows=4)
    assert regression.parameters() == {
        "noise": "discrete_laplace",
        "sums": 9,
        "relative_noise_scale": str(9 * 4 // 2),
    }


def test_zero_concentrated_loss():
    assert Covariance((X, Y, Z), micro_epsilon=MICRO).rho == Fraction(1, 20)
    assert LinearRegression((X, Y), micro_epsilon=MICRO).rho == Fraction(1, 10)


def test_covariance():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 50_000)
    y = 2 * x + rng.uniform(-1, 1, 50_000)
    query = Covariance((X, Y), micro_epsilon=20 * MICRO)
    found = [float(output.value) for output in query.release(totals_of(query, [x, y]))]
    assert found[:3] == pytest.approx([np.var(x), np.cov(x, y, bias=True)[0, 1], np.var(y)], abs=0.01)
    assert found[3:5] == pytest.approx([x.mean(), y.mean()], abs=0.01)
    # noise of scale 0.3: off by 7 with probability 10^-10
    assert found[5] == pytest.approx(50_000, abs=6)
    assert query.release(totals_of(query, [x, y]))[3].half_width_95 < Fraction(1, 100)


@pytest.mark.parametrize("people", [0, 3, 30])
def test_a_noisy_covariance_is_still_one(people):
    query = Covariance((X, Y, Z), micro_epsilon=MICRO // 10)
    values = np.full(people, 0.5)
    for _ in range(20):
        outputs = query.release(totals_of(query, [values, values, values + 10]))
        entries = dict(zip(query.pairs, (float(output.value) for output in outputs), strict=False))
        matrix = [[entries[min(i, j), max(i, j)] for j in range(3)] for i in range(3)]
        scale = np.sqrt(np.diag(matrix))
        assert np.linalg.eigvalsh(matrix / np.outer(scale, scale)).min() > -0.02
        assert all(
            abs(entries[i, i]) <= float((grid.upper - grid.lower) / 2) ** 2 * 1.01
            for i, grid in enumerate((X, Y, Z))
        )


def test_regression_with_plenty_of_epsilon():
    columns, truth = a_line(20_000)
    query = LinearRegression((X, X, X, Y), micro_epsilon=100 * MICRO)
    *found, count = (float(output.value) for output in query.release(totals_of(query, columns)))
    assert found == pytest.approx(truth, abs=0.02)
    # noise of scale 0.15: off by 4 with probability 10^-11
    assert count == pytest.approx(20_000, abs=3)


def test_regression_in_own_units():
    rng = np.random.default_rng(2)
    feature = rng.uniform(10, 20, 20_000)
    target = 0.2 * feature - 3
    query = LinearRegression((Z, Y), micro_epsilon=100 * MICRO)
    intercept, slope, _ = (
        float(output.value) for output in query.release(totals_of(query, [feature, target]))
    )
    assert (intercept, slope) == pytest.approx((-3, 0.2), abs=0.05)


@pytest.mark.parametrize(("people", "most"), [(1_000, 0.313), (10_000, 0.030)])
def test_regression_against_the_design_table(people, most):
    """Root mean square error of the coefficients at epsilon 1: .313 with 1,000 people, .020 with 10,000."""
    columns, truth = a_line(people)
    query = LinearRegression((X, X, X, Y), micro_epsilon=MICRO)
    totals = totals_of(query, columns)
    errors = [
        float(output.value) - value
        for _ in range(60)
        for output, value in zip(query.release(totals)[:4], truth, strict=True)
    ]
    assert np.sqrt(np.mean(np.square(errors))) < most


@pytest.mark.parametrize("people", [0, 5])
def test_regression_on_hardly_anybody(people):
    query = LinearRegression((X, X, X, Y), micro_epsilon=MICRO // 10)
    columns, _ = a_line(people)
    for _ in range(20):
        outputs = query.release(totals_of(query, columns))
        assert all(abs(output.value) < 100 for output in outputs[:4])


@pytest.mark.parametrize("kind", [Covariance, LinearRegression])
def test_releases_lie_on_their_steps(kind):
    query = kind((X, Y, Z), micro_epsilon=MICRO)
    assert len(query.release([3] * query.width)) == len(query.steps)
    for output, step in zip(query.release([3] * query.width), query.steps, strict=True):
        assert (output.value / step).denominator == 1
        assert bin(step.numerator).count("1") == bin(step.denominator).count("1") == 1


@pytest.mark.parametrize("kind", [Covariance, LinearRegression])
@pytest.mark.parametrize("columns", [1, 17])
def test_number_of_columns(kind, columns):
    with pytest.raises(ValueError, match="name 2 to 16 columns"):
        kind((X,) * columns, micro_epsilon=MICRO)


def test_moments_check_what_they_are_given():
    with pytest.raises(ValueError, match="platform bug"):
        Covariance((X, Y), micro_epsilon=MICRO).release([0] * 5)
    with pytest.raises(ValueError, match="epsilon"):
        LinearRegression((X, Y), micro_epsilon=1)


@given(
    st.lists(st.lists(small, min_size=3, max_size=3), min_size=3, max_size=3),
    st.lists(small, min_size=3, max_size=3),
)
def test_solutions_solve(root, right):
    """B'B + I is positive definite for every B."""
    gram = [
        [sum((row[i] * row[j] for row in root), Fraction(int(i == j))) for j in range(3)] for i in range(3)
    ]
    assert is_positive_definite(gram)
    found = solve(gram, right)
    assert [sum(a * x for a, x in zip(row, found, strict=True)) for row in gram] == right


@given(st.lists(st.integers(-20, 20), min_size=6, max_size=6))
def test_positive_definite_means_positive_eigenvalues(entries):
    a, b, c, d, e, f = map(Fraction, entries)
    matrix = [[a, b, c], [b, d, e], [c, e, f]]
    least = np.linalg.eigvalsh(np.array(matrix, float)).min()
    if abs(least) > 1e-9:
        assert is_positive_definite(matrix) == (least > 0)


def test_no_solution_without_definiteness():
    with pytest.raises(ValueError, match="not positive definite"):
        solve([[Fraction(0)]], [Fraction(1)])


def test_plus_diagonal():
    assert plus_diagonal([[1, 2], [2, 1]], Fraction(3)) == [[4, 2], [2, 4]]
