"""The demo as a list of steps, each one that a person would take."""

from __future__ import annotations

import os
import time
from pathlib import Path

from dpgate.cli.output import out, print_json
from dpgate.demo import chart_page, summary
from dpgate.demo.few_people import ask_few
from dpgate.demo.found import Found
from dpgate.demo.many_people import BUDGET_OF, ask_by_pipeline, ask_by_query, ask_too_much, register_many
from dpgate.demo.spying import spy
from dpgate.demo.stage import Stage, open_stage
from dpgate.errors import DpgateError


def run_demo(examples: Path | None, *, chart: Path, as_json: bool) -> None:
    """Start, ask, end; nothing is left running, and one file is left: the chart."""
    _refuse_no_place(chart)
    began = time.monotonic()
    with open_stage(examples, shown=not as_json) as stage:
        people = register_many(stage)
        query = ask_by_query(stage)
        pipeline = ask_by_pipeline(stage)
        spied = spy(stage)
        refusal = ask_too_much(stage)
        few_people, few_block_size, few = ask_few(stage)
        with stage.client("researcher") as client:
            budget = client.budget(BUDGET_OF)
        _check_audit(stage)
    found = Found(
        people=people,
        query=query,
        pipeline=pipeline,
        spied=spied,
        refusal=refusal,
        few_people=few_people,
        few_block_size=few_block_size,
        few=few,
        budget=budget.accounts[0].cap,
        budget_left=budget.accounts[0].left,
        seconds=round(time.monotonic() - began, 1),
    )
    chart.write_text(chart_page.draw(found), encoding="utf-8")
    if as_json:
        print_json(found.document())
    else:
        out.print(summary.screen(found, chart=chart), markup=False, highlight=False, soft_wrap=True)


def _check_audit(stage: Stage) -> None:
    with stage.stack.client() as operator:
        if not operator.verify_audit()["intact"]:
            raise DpgateError("the audit trail is broken")


def _refuse_no_place(chart: Path) -> None:
    """Before a minute is spent."""
    if not os.access(chart.parent, os.W_OK):
        raise DpgateError(f"--chart: {chart.parent} is no folder that you can write to; name another file")
