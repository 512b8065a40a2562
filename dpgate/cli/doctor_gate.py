"""What `dpgate doctor --deep` found, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from domain.channels import ALL_CHANNELS
from dpgate.cli.output import err, plain, print_table

if TYPE_CHECKING:
    from worker.sandbox.gate.report import Report, Residual

NAMED = ", ".join(ALL_CHANNELS)
_MOST = 12  # findings of one experiment that are shown; --json has all


def refuse_elsewhere(sandbox: str) -> None:
    """The search is made for a supervisor's runs; elsewhere numbers of the host are open, and documented."""
    if sandbox != "supervised":
        raise typer.BadParameter(
            f"--deep asks the sandbox `supervised`. What `{sandbox}` leaves open is listed in "
            "docs/explanation/threat-model.md; choose --sandbox supervised, or leave --deep out."
        )


def print_gate(reports: Sequence[Report]) -> None:
    for report in reports:
        _print_senders(report)
        _print_findings(report)
        _print_residuals(report)


def _print_senders(report: Report) -> None:
    rows = [
        (
            each.sender,
            each.how.value,
            each.rounds,
            ", ".join(each.moved) or "nothing",
            len(each.stray) or "",
            len(each.findings) or "",
        )
        for each in report.experiments
    ]
    print_table(
        f"The gate, {report.mode} runs: {report.values} values in a look, {report.looks} looks",
        ("sender", "where it ran", "rounds", "listed channels that moved", "once only", "findings"),
        rows,
        note="A listed channel moves with and without a sender: how much it tells stands below.",
    )


def _print_findings(report: Report) -> None:
    for finding in report.quiet:
        err.print(
            f"[bold red]Quiet runs differ:[/] {plain(finding.key)}: {plain(finding.words)}", soft_wrap=True
        )
    for each in report.experiments:
        for finding in each.findings[:_MOST]:
            err.print(
                f"[bold red]Moved:[/] {plain(finding.key)} with {plain(each.sender)}, {each.how.value}: "
                f"{plain(finding.words)}",
                soft_wrap=True,
            )
        if more := each.findings[_MOST:]:
            err.print(f"[bold red]... and {len(more)} more[/]", soft_wrap=True)
    for call in report.unclassified:
        err.print(f"[bold red]Nobody has said what this call tells a run:[/] {plain(call)}", soft_wrap=True)


def _print_residuals(report: Report) -> None:
    rows = [(each.channel, _where(each), each.sender, _seen(each), _bits(each)) for each in report.residuals]
    print_table(
        f"Residual channels, {report.mode} runs",
        ("channel", "where the sender ran", "sender", "in fresh rounds", "bits a run"),
        rows,
        note="Of one bit sent a run; who can send more says more. See docs/explanation/threat-model.md.",
        empty=f"not measured in these runs. Each of these may be open: {NAMED}",
    )


def _where(residual: Residual) -> str:
    return residual.how.value if residual.how else ""


def _seen(residual: Residual) -> str:
    return f"{residual.right} of {residual.asked} right" if residual.asked else residual.rule


def _bits(residual: Residual) -> str:
    return f"{residual.bits:.2f}" if residual.bits is not None else f"not measured: {residual.why_not}"
