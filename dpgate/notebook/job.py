"""A job in a notebook: where it is on its way, and what it costs under which promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.job_steps import WORDS, Step, charge_sentence, steps
from domain.states import JobState
from dpgate.notebook.frame import careful, paragraph, promise, text, view

if TYPE_CHECKING:
    from dpgate.job import Job

# a sign for each stage, and the word for those who do not see it
_SIGNS = {"done": ("✓", "done"), "now": ("●", "now"), "ended": ("✕", "ended"), "ahead": ("○", "ahead")}


@careful
def job_html(job: Job[Any]) -> str:
    state = JobState(job.state)
    facts = {"is_answered": job.answered_by is not None, "is_charged": bool(job.raw.get("charged_at"))}
    way = steps(state, **facts, is_reviewed=False)
    return view(
        f"Job {job.raw.get('title', '')}: {WORDS[state].name}",
        f'<ol aria-label="Where it is">{"".join(_station(step) for step in way)}</ol>',
        paragraph(f"{WORDS[state].sentence} {job.reason or ''}"),
        promise(job.guarantee, job.cost),
        paragraph(charge_sentence(state, **facts)),
        paragraph(f"{job.mechanism} on {job.dataset}, {job.runs} runs. {_when(job)}"),
        f"<p>Its id is <code>{text(job.id)}</code>.</p>",
    )


def _station(step: Step) -> str:
    sign, word = _SIGNS[step.stage]
    now = ' class="now" aria-current="step"' if step.stage == "now" else ""
    return f'<li{now}><span role="img" aria-label="{word}">{sign}</span> {text(step.name)}</li>'


def _when(job: Job) -> str:
    if not job.due_at or job.is_finished:
        return ""
    if job.turns_over is None:
        return f"A release is planned before {job.due_at}."
    return f"A release is due at {job.due_at}; about {job.turns_over} of {job.raw['turns']} turns are over."
