import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.cost import ATTO, Currency
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.loss import GuaranteeClass
from privacy.perturbation import LAWS, RecordPerturbation
from privacy.perturbation.snapping import Snapping

ECG = OutputGrid.build("-13.1", "13.4")
MICRO_DELTA = ATTO // 10**6


class Silent(Keystream):
    """All ones: the noise is zero. Lets a test see the arithmetic."""

    def words(self, n, dtype):
        fill = 0 if dtype is np.uint8 else np.iinfo(dtype).max
        return np.full(n, fill, dtype)


def make_perturbation(**overrides):
    return RecordPerturbation(**{"grid": ECG, "law": "laplace", "micro_epsilon": 1_000_000, **overrides})


def each_law(**overrides):
    deltas = {"laplace": None, "bounded": MICRO_DELTA, "gaussian": MICRO_DELTA}
    return [make_perturbation(law=law, atto_delta=deltas[law], **overrides) for law in LAWS]


bounds = st.floats(-1e6, 1e6)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50), bounds, st.floats(1e-3, 1e6))
def test_snapping_is_the_grids_own_and_exact(values, lower, width):
    grid = OutputGrid.build(lower, lower + width)
    snapping, lowest = Snapping(grid), int(grid.lower / grid.step)
    finite = [min(max(value, -1e308), 1e308) for value in values]
    units = snapping.units(np.array(finite))
    assert (units - lowest).tolist() == [grid.snap(value) for value in finite]
    out = np.empty(len(values))
    snapping.values(units, out=out)
    assert [Fraction(value) for value in out] == [grid.step * int(unit) for unit in units]


@pytest.mark.parametrize("bound", [("1e-200", "1e-199"), ("1e299", "1e300"), (-1, "1e-3"), (0, "1e300")])
def test_snapping_at_the_ends_of_the_floats(bound):
    grid = OutputGrid.build(*bound)
    values = np.array([0.0, 5e-324, 1.5e-200, 1e299, 9.9e299, 1.7e308, -1.7e308])
    lowest = int(grid.lower / grid.step)
    assert (Snapping(grid).units(values) - lowest).tolist() == [grid.snap(float(v)) for v in values]


@pytest.mark.parametrize(
    ("lower", "upper"),
    [("1000000000.0001", "1000000000.0011"), ("-1000000000.00133", "-1000000000.00007")],
)
def test_snapping_to_bounds_that_are_no_floats(lower, upper):
    """The grid is finer than floats are there: the nearest floats lie on either side of a bound."""
    grid = OutputGrid.build(lower, upper)
    assert Fraction(float(grid.lower)) != grid.lower
    lowest, start = int(grid.lower / grid.step), float(lower)
    values = [start]
    for towards in (-math.inf, math.inf):
        near = start
        for _ in range(12_000):
            near = math.nextafter(near, towards)
            values.append(near)
    units = Snapping(grid).units(np.array(values)) - lowest
    assert units.tolist() == [grid.snap(value) for value in values]
    assert {0, grid.cells} <= set(units.tolist())


def test_without_noise_the_snapped_values_are_released():
    values = np.array([-20.0, -13.1, 0.0, 1 / 3, 13.4, 99.0])
    released = make_perturbation().perturb(values, keystream=Silent())
    assert [Fraction(v) for v in released] == [ECG.value(ECG.snap(float(v))) for v in values]


@pytest.mark.parametrize("perturbation", [*each_law(), make_perturbation(fast=True)], ids=lambda p: p.law)
def test_results_lie_on_the_grid_and_scatter_around_the_values(perturbation):
    values = np.linspace(-13, 13, 40_001)
    released = perturbation.perturb(values)
    units = released / float(ECG.step)
    assert (units == np.round(units)).all()
    spread = (released - values).std()
    assert abs((released - values).mean()) < 6 * spread / 200
    assert spread > 20


def test_person_loss_is_the_plain_sum():
    loss = make_perturbation(law="bounded", atto_delta=MICRO_DELTA).person_loss(650_000)
    assert (loss.micro_epsilon, loss.epsilon, loss.delta) == (650_000 * 10**6, "650000", "0.65")
    assert not loss.means_something
    assert make_perturbation(law="bounded", atto_delta=MICRO_DELTA).person_loss(10**7).delta == "1"
    assert make_perturbation(micro_epsilon=10_000).person_loss(100).means_something


@pytest.mark.parametrize("values", [0, -1, 1.5, True])
def test_person_loss_needs_a_number_of_values(values):
    with pytest.raises(ValueError, match="whole number"):
        make_perturbation().person_loss(values)


def test_class_and_cost():
    laplace, bounded, gaussian = each_law()
    assert laplace.guarantee is GuaranteeClass.PURE_DP
    assert dict(laplace.cost) == {Currency.EPSILON: 1_000_000}
    for other in (bounded, gaussian):
        assert other.guarantee is GuaranteeClass.APPROX_DP
        assert dict(other.cost) == {Currency.EPSILON: 1_000_000, Currency.DELTA: MICRO_DELTA}
    fast = make_perturbation(fast=True)
    assert fast.guarantee is GuaranteeClass.APPROX_DP
    assert fast.cost[Currency.EPSILON] == 1_020_000
    assert 0 < fast.cost[Currency.DELTA] < 10**10


def test_sensitivity_is_the_declared_range():
    for perturbation in each_law():
        assert perturbation.noise.sensitivity == ECG.cells
        assert perturbation.parameters()["sensitivity_units"] == ECG.cells
    assert make_perturbation(fast=True).parameters()["noise"]["law"].endswith("floats")
    assert make_perturbation().noise.scale == ECG.cells


NUMBERS_OF_ANY_WIDTH_AND_SHAPE = (np.int8, np.int64, np.uint16, np.float16, np.float32, ">f8")


def test_numbers_of_any_width_and_shape(subtests):
    for dtype in NUMBERS_OF_ANY_WIDTH_AND_SHAPE:
        with subtests.test(dtype=dtype):
            values = np.arange(6).astype(dtype).reshape(2, 3)[:, ::-1]
            released = make_perturbation().perturb(values, keystream=Silent())
            assert released.tolist() == [[2, 1, 0], [5, 4, 3]]
            assert released.dtype == np.float64


def test_in_place():
    values = np.array([[1.0, 2.0], [3.0, 100.0]])
    released = make_perturbation().perturb(values, out=values, keystream=Silent())
    assert released is values
    assert values.tolist() == [[1, 2], [3, float(ECG.upper)]]


def test_missing_values():
    values = np.array([1.0, np.nan, np.inf, -np.inf])
    with pytest.raises(ValueError, match="no numbers") as refusal:
        make_perturbation().perturb(values)
    assert "nan" not in str(refusal.value).lower()
    middle = float(ECG.value(ECG.middle))
    clipped = make_perturbation(missing="clip").perturb(values, keystream=Silent())
    assert clipped.tolist() == [1, middle, float(ECG.upper), float(ECG.lower)]
    masked = make_perturbation(missing="keep-mask").perturb(values, keystream=Silent())
    assert np.isnan(masked).tolist() == [False, True, False, False]
    assert values[0] == 1
    assert np.isnan(values[1])
    noised = make_perturbation(missing="clip").perturb(np.full(1000, np.nan))
    assert len(set(noised.tolist())) > 900


def test_a_mask_of_nothing_hides_nothing():
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    released = make_perturbation(missing="keep-mask").perturb(values, keystream=Silent())
    assert released.tolist() == values.tolist()


def test_an_array_is_read_in_chunks_where_it_lies(monkeypatch):
    """No copy of an array of doubles is made, and no more than a chunk of it is looked at."""
    seen = []
    present = RecordPerturbation.present
    monkeypatch.setattr(
        RecordPerturbation, "present", lambda self, numbers: seen.append(numbers) or present(self, numbers)
    )
    values = np.zeros((2, 2**15 + 1))
    make_perturbation().perturb(values)
    assert [chunk.size for chunk in seen] == [2**15, 2**15, 2]
    assert all(np.shares_memory(chunk, values) for chunk in seen)


OTHER_ARRAYS_ARE_REFUSED = (
    np.array([]),
    np.array([True]),
    np.array([1j]),
    np.array(["1"]),
    np.array([None]),
    [1.0],
    np.longdouble([1]),
)


def test_other_arrays_are_refused(subtests):
    for values in OTHER_ARRAYS_ARE_REFUSED:
        with (
            subtests.test(values=values),
            pytest.raises(ValueError, match=r"array (must hold|is empty)"),
        ):
            make_perturbation().perturb(values)


@pytest.mark.parametrize(
    "out",
    [np.empty(3), np.empty(2, np.float32), np.empty((2, 1)), np.empty(4)[::2]],
    ids=["longer", "single precision", "column", "strided"],
)
def test_other_places_for_the_result_are_refused(out):
    with pytest.raises(ValueError, match="out must be"):
        make_perturbation().perturb(np.zeros(2), out=out)


PARAMETERS_ARE_REFUSED = (
    ({"law": "uniform"}, "laplace, bounded, gaussian"),
    ({"atto_delta": MICRO_DELTA}, "takes no delta"),
    ({"law": "bounded"}, "needs a delta"),
    ({"law": "gaussian"}, "needs a delta"),
    ({"law": "bounded", "atto_delta": ATTO // 50}, "at most 0.01"),
    ({"law": "gaussian", "atto_delta": MICRO_DELTA, "micro_epsilon": 31_000_000}, "at most 30"),
    ({"law": "bounded", "atto_delta": MICRO_DELTA, "fast": True}, "only Laplace"),
    ({"micro_epsilon": 10}, "0.001"),
    ({"micro_epsilon": 0}, "above zero"),
    ({"micro_epsilon": 2_000_000_000}, "1000"),
    ({"missing": "drop"}, "missing must be"),
    ({"grid": OutputGrid.build(10**17, 10**17 + 1)}, "too fine"),
)


def test_parameters_are_refused(subtests):
    for overrides, reason in PARAMETERS_ARE_REFUSED:
        with (
            subtests.test(overrides=overrides, reason=reason),
            pytest.raises(ValueError, match=reason),
        ):
            make_perturbation(**overrides)


@pytest.mark.parametrize("perturbation", [*each_law(), make_perturbation(fast=True)], ids=lambda p: p.law)
def test_memory_beside_the_array_is_a_few_chunks(perturbation):
    """2 million values, 16 MB: in place it takes less than a tenth of that, else the result and that."""
    values = np.zeros(2_000_000)
    perturbation.perturb(values[:100_000])
    for out, share in ((values, 0.1), (None, 1.1)):
        tracemalloc.start()
        perturbation.perturb(values, out=out)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < share * values.nbytes + 2**20


def test_noise_of_the_gaussian_has_its_variance():
    noise = make_perturbation(law="gaussian", atto_delta=MICRO_DELTA).noise
    drawn = noise.sample(100_000)
    assert math.isclose(drawn.astype(float).var(), noise.variance, rel_tol=0.03)
    assert noise.parameters()["variance_units"] == str(noise.variance)
