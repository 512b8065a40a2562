"""How near twins of counts are to the data, on Adult: figures of docs/benchmarks.md, with room for chance."""

from itertools import combinations

import numpy as np
import pytest
from adult_cells import adult
from twin_paths import totals_of

from privacy.twin import ColumnCounts, Patterns, draw_rows, predicted_tv1
from twins.evaluation.association import cramers_v
from twins.evaluation.marginals import each_column, total_variation

ONE = 1_000_000
PAIRS = list(combinations(range(15), 2))


def twin_of(rows, mechanism, *, seed=0):
    return draw_rows(mechanism.release(totals_of(mechanism, rows)), len(rows), seed=seed).astype(np.int64)


def patterns(epsilon):
    rows, _, cells = adult()
    return twin_of(rows, Patterns(cells, epsilon * ONE, nominal_size=len(rows)))


def of_pairs(rows, twin, cells):
    return float(np.mean([total_variation(rows, twin, cells, pair) for pair in PAIRS]))


@pytest.mark.parametrize(("epsilon", "apart", "dependence"), [(1, 0.050, 0.035), (10, 0.025, 0.019)])
def test_pairs_of_columns(epsilon, apart, dependence):
    rows, _, cells = adult()
    twin = patterns(epsilon)
    assert of_pairs(rows, twin, cells) <= apart
    differences = [abs(cramers_v(rows, cells, a, b) - cramers_v(twin, cells, a, b)) for a, b in PAIRS]
    assert np.mean(differences) <= dependence


def test_patterns_say_more_than_columns():
    rows, _, cells = adult()
    columns = twin_of(rows, ColumnCounts(cells, ONE))
    assert of_pairs(rows, patterns(1), cells) < 0.7 * of_pairs(rows, columns, cells)


def test_sixty_people_of_twenty_columns():
    """At epsilon 10: sixty rows drawn anew from the data would be .13 away."""
    rng = np.random.default_rng(60)
    cells = (10,) * 20
    rows = np.stack([rng.choice(10, 60, p=rng.dirichlet(np.ones(10))) for _ in cells], axis=1)
    mechanism = ColumnCounts(cells, 10 * ONE)
    apart = [each_column(rows, twin_of(rows, mechanism, seed=seed), cells).mean() for seed in range(10)]
    assert np.mean(apart) <= 0.17
    assert predicted_tv1(cells, nominal_size=60, micro_epsilon=10 * ONE) <= 2 * np.mean(apart)


@pytest.mark.deep("says of a model what the tests above say of the columns and pairs that it learns from")
@pytest.mark.parametrize(("epsilon", "least"), [(1, 0.885), (10, 0.90)])
def test_a_classifier_trained_on_the_twin(epsilon, least):
    """Tried on the rows that nobody counted; .912 when trained on the data itself."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    _, held_out, cells = adult()

    def wide(codes):
        return np.concatenate([np.eye(c, dtype=np.float32)[codes[:, j]] for j, c in enumerate(cells[:-1])], 1)

    areas = []
    for _ in range(3):
        twin = patterns(epsilon)
        model = LogisticRegression(max_iter=300).fit(wide(twin), twin[:, -1])
        areas.append(roc_auc_score(held_out[:, -1], model.decision_function(wide(held_out))))
    assert np.mean(areas) >= least
