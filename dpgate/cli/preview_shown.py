"""How a preview is told: tables and sentences for people, one document for programs.

Imported once a preview is asked for: its formulas take longer to import than its help to print.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from domain.loss import format_epsilon
from domain.mechanism import SampleAggregateRequest
from domain.mechanisms import MECHANISMS, own_runs
from domain.model import parse
from domain.output_value import OutputValue
from domain.outputs import values_of
from domain.pipeline import Manifest
from domain.rank_interval import said_of_blocks
from dpgate import preview_many
from dpgate import preview_page as page
from dpgate.chosen import Chosen
from dpgate.cli.output import out, plain, print_json, print_table
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import Lock
from dpgate.preview import BlocksPreview, aggregators_of, preview_blocks, preview_own_runs
from dpgate.preview_page import digits, told_outputs
from dpgate.preview_size import size_words
from dpgate.preview_two_means import NumberColumn, better_correlations
from privacy.mechanism import MAX_OUTPUTS

if TYPE_CHECKING:
    from dpgate.preview import BlocksPreview
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpgate.preview_page import Table
    from privacy.preview.results import ResultForecast


def show_blocks(
    request: SampleAggregateRequest,
    typed: Mapping[str, object],
    manifest: Manifest,
    lock: Lock,
    sizes: Sequence[int],
    aggregator: str | None,
    want: Sequence[str] | None,
    *,
    columns: Sequence[NumberColumn],
    as_json: bool,
) -> Chosen:
    """The preview, printed; what a job takes of it beside what was typed for the preview."""
    values = values_of(manifest, lock.shape)
    names = [value.name for value in values]
    if len(names) > MAX_OUTPUTS and request.noise == "laplace":
        raise DpgateError(preview_many.too_many_words(len(names)))
    found = preview_blocks(
        request,
        manifest,
        lock,
        block_sizes=sizes,
        aggregators=aggregators_of(request, aggregator, values=values),
        wanted=_wanted(names, want or ()),
    )
    guarantee = found.guarantee
    better = better_correlations(found, request, manifest, lock, columns=columns)
    ranks = _ranks(found, request, values, lock)
    if as_json:
        document = page.blocks_document(found, names, guarantee=guarantee)
        print_json({**document, "two_means": [each.document for each in better], "ranks": ranks})
        return _chosen(found, typed, names)
    print_table(
        page.ladder_title(found),
        *page.ladder_table(found, names),
        note=f"Guarantee class {guarantee}. 'noise' is exact; errors are from {page.REPLAYS} replays on the "
        "twin's blocks, good to 5 %.",
    )
    headings, rows = page.choices_table(found, names)
    if rows:
        print_table("Choices at the recommended epsilon", headings, rows, note=page.choices_note(found))
    if found.results:
        print_table("What follows from them, at the recommended choice", *results_table(found.results))
    taken = found.recommendation.choice
    epsilon = format_epsilon(taken.micro_epsilon)
    out.print(f"Take [bold]epsilon {epsilon}, {page.blocks_words(taken)}[/], with {found.noise} noise.")
    repeats = page.repeats_words(lock.nominal_size, repeats=request.repeats, block_size=taken.block_size)
    shared = preview_many.sharing_words(
        len(names), found.noise, voxels=any(output.volume for output in manifest.outputs)
    )
    reasons = [*found.recommendation.reasons, *shared, ratio_words(found, names), *repeats]
    told = [each.words for each in better] + ([ranks] if ranks else [])
    for line in [*reasons, *_further_words(found, names, manifest, lock), *told]:
        out.print(f"- {plain(line)}")
    _show_wanted(found, lock)
    best = _chosen(found, typed, names)
    out.print(f"[bold]dpgate submit[/] takes, unless you say otherwise, {plain(best.words)}.")
    return best


def _ranks(
    found: BlocksPreview, request: SampleAggregateRequest, values: Sequence[OutputValue], lock: Lock
) -> str | None:
    """Between which ranks medians will lie, at the recommended choice; None where there are none."""
    taken = found.recommendation.choice
    chosen = {
        "epsilon": format_epsilon(taken.micro_epsilon),
        "block_size": taken.block_size,
        "aggregator": taken.aggregator,
    }
    mechanism = request.model_copy(update=chosen).in_one_step(values, nominal_size=lock.nominal_size)
    return said_of_blocks(mechanism, [value.name for value in values])


def _chosen(found: BlocksPreview, typed: Mapping[str, object], names: Sequence[str]) -> Chosen:
    taken = found.recommendation.choice
    best = {
        "epsilon": format_epsilon(taken.micro_epsilon),
        "block_size": taken.block_size,
        "aggregator": taken.aggregator,
        "words": page.choice_words(found, names),
    }
    return parse(Chosen, {**typed, **best})


def _show_wanted(found: BlocksPreview, lock: Lock) -> None:
    for row in found.wanted:
        out.print(plain(page.wanted_words(row, guarantee=found.guarantee)))
        if row.noise_alone > lock.max_micro_epsilon:
            out.print("[yellow]That is over what the policy allows for one job.[/]")


def _further_words(found: BlocksPreview, names: Sequence[str], manifest: Manifest, lock: Lock) -> list[str]:
    return [
        *page.interval_words(found, names),
        *preview_many.kinds_words(found),
        *preview_many.told_words(found),
        *size_words(found, manifest, lock),
        *([found.together.sentence] if found.together else []),
    ]


def show_own_runs(mechanism: str, manifest: Manifest, lock: Lock, *, as_json: bool) -> None:
    """The error to expect of a mechanism that makes runs of its own on the twin."""
    names = [value.name for value in values_of(manifest, lock.shape)]
    rows = preview_own_runs(mechanism, manifest, lock)
    guarantee = MECHANISMS[mechanism].guarantees[0]
    if as_json:
        print_json(page.rows_document(rows, names, mechanism=mechanism, guarantee=guarantee))
        return
    title, table = page.OWN_RUNS[mechanism]
    note = f"Guarantee class {guarantee}. {guarantee.sentence} {own_runs()[mechanism].told}"
    print_table(title, *table(rows, names), note=note)


def _wanted(names: Sequence[str], wants: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for want in wants:
        name, _, text = want.partition("=")
        try:
            error = float(text)
        except ValueError:
            raise DpgateError("--want takes OUTPUT=ERROR, for instance mean_height=2.5") from None
        if name not in names or not 0 < error < math.inf:
            raise DpgateError(f"--want takes the name of an output ({', '.join(names)}) and a positive error")
        found[name] = error
    return found


# What a preview says of how wide the declared bounds are, and the options that follow from it.


def ratio_words(found: BlocksPreview, names: Sequence[str]) -> str:
    shown = told_outputs(found)
    pairs = enumerate(zip(names, found.spread_ratios, strict=True))
    ratios = ", ".join(f"{name} {ratio}" for index, (name, ratio) in pairs if index in shown)
    if len(names) > MAX_OUTPUTS:  # so many are means
        return f"Declared range over the spread of blocks: {ratios}."
    return (
        f"Declared range over the spread of blocks: {ratios}. To have a mean, a median or a mean in two "
        f"steps chosen: --aggregator auto {_as_options(found, names)}."
    )


def _as_options(found: BlocksPreview, names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"--spread-ratio {found.spread_ratios[0]}"
    pairs = zip(names, found.spread_ratios, strict=True)
    return " ".join(f"--spread-ratio {name}={ratio}" for name, ratio in pairs)


# How a preview shows what follows from drawn means.


def results_table(found: Mapping[str, ResultForecast]) -> Table:
    """What follows from the released means."""
    return (
        ("result", "on the twin", "error, typical", "error, 95 %", "without noise", "left open"),
        [
            (
                name,
                digits(row.on_twin),
                digits(row.error.typical),
                digits(row.error.within_95),
                digits(row.without_noise_95),
                f"{row.open_share:.0%}",
            )
            for name, row in found.items()
        ],
    )
