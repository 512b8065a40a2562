"""Commands for notices: what was sent to you, your e-mail address, your webhooks."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dpgate.cli.output import Json, Profile, out, plain, print_json, print_line, print_table, say
from dpgate.client import connect

WebhookId = Annotated[str, typer.Argument(help="As `dpgate webhook list` shows it.")]
Kinds = Annotated[list[str], typer.Argument(help="Such as job_waits; `dpgate notice list` shows kinds.")]


def notice_list(
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Counts of the whole platform (operator).")
    ] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """List what was or is to be sent to you."""
    with connect(profile=profile) as client:
        found = client.notices.standing() if everybody else client.notices.sent()
    if as_json:
        print_json(found)
    elif everybody:
        columns = ("channel", "kind", "state", "notices", "problem")
        rows = [(o["channel"], o["kind"], o["state"], str(o["count"]), o["problem"] or "") for o in found]
        print_table("Notices", columns, rows)
    else:
        print_table("Notices", ("id", "what", "by", "state", "when"), [_row(one) for one in found])


def notice_retry(
    notice_id: Annotated[str | None, typer.Argument(help="One of yours that is DEAD.")] = None,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="All that are DEAD, of everybody (operator).")
    ] = False,
    channel: Annotated[str | None, typer.Option(help="With --everybody: email or webhook alone.")] = None,
    problem: Annotated[str | None, typer.Option(help="With --everybody: of this problem alone.")] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Try again what was given up."""
    if (notice_id is None) != everybody:
        raise typer.BadParameter("name one notice, or say --everybody")
    with connect(profile=profile) as client:
        if notice_id is not None:
            answer: dict[str, Any] = client.notices.retry(notice_id)
        else:
            answer = {"retried": client.notices.retry_all(channel=channel, problem=problem)}
    say(answer, f"{answer.get('retried', 1)} to be sent again within seconds", as_json=as_json)


def notice_mute(kinds: Kinds, as_json: Json = False, profile: Profile = "default") -> None:
    """Do not be told of these kinds any more."""
    _choose(lambda off: off | set(kinds), as_json=as_json, profile=profile)


def notice_unmute(kinds: Kinds, as_json: Json = False, profile: Profile = "default") -> None:
    """Be told of these kinds again."""
    _choose(lambda off: off - set(kinds), as_json=as_json, profile=profile)


def email_set(
    address: Annotated[str, typer.Argument(help="Where notices are to go.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Set your e-mail address. A code is sent there, which `dpgate email confirm` takes."""
    with connect(profile=profile) as client:
        found = client.notices.set_email(address)
    if as_json:
        print_json(found)
    elif found["email"]["confirmed"]:
        out.print(f"{plain(address)} is confirmed already")
    else:
        out.print(f"A code is on its way to {plain(address)}. Then: [bold]dpgate email confirm CODE[/]")


def email_confirm(
    code: Annotated[str, typer.Argument(help="The code of the mail. After -- where it begins with -.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Confirm your e-mail address: from now on notices go there."""
    with connect(profile=profile) as client:
        found = client.notices.confirm_email(code)
    say(found, f"[bold]{plain(found['email']['address'])}[/] is confirmed", as_json=as_json)


def email_remove(as_json: Json = False, profile: Profile = "default") -> None:
    """Remove your e-mail address. Nothing more goes there."""
    with connect(profile=profile) as client:
        found = client.notices.remove_email()
    say(found, "No notices go out by e-mail any more", as_json=as_json)


def webhook_add(
    url: Annotated[str, typer.Argument(help="https:// and a host that the operator allows.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Add a webhook and print the secret that notices are signed with, once."""
    with connect(profile=profile) as client:
        made = client.notices.add_webhook(url)
    if as_json:
        print_json(made)
    else:
        out.print(f"Webhook [bold]{plain(made['id'])}[/]. Its secret, shown this once:")
        print_line(plain(made["secret"]))


def webhook_list(as_json: Json = False, profile: Profile = "default") -> None:
    """List your webhooks."""
    with connect(profile=profile) as client:
        found = client.notices.channels()
    if as_json:
        print_json(found["webhooks"])
        return
    rows = [(one["id"], one["url"], one["created_at"][:10]) for one in found["webhooks"]]
    hosts = ", ".join(found["webhook_hosts"])
    note = (
        f"Hosts that the operator allows: {hosts}" if hosts else "The operator allows no host for webhooks."
    )
    print_table("Webhooks", ("id", "address", "since"), rows, note=plain(note))


def webhook_remove(webhook_id: WebhookId, as_json: Json = False, profile: Profile = "default") -> None:
    """Remove a webhook. Nothing more goes there."""
    with connect(profile=profile) as client:
        found = client.notices.remove_webhook(webhook_id)
    say(found["webhooks"], f"{plain(webhook_id)} is removed", as_json=as_json)


def webhook_rotate(webhook_id: WebhookId, as_json: Json = False, profile: Profile = "default") -> None:
    """Print a new secret, once. The old secret stays valid for a day."""
    with connect(profile=profile) as client:
        secret = client.notices.rotate_webhook(webhook_id)
    if as_json:
        print_json({"id": webhook_id, "secret": secret})
    else:
        out.print(f"The new secret of [bold]{plain(webhook_id)}[/], shown this once:")
        print_line(plain(secret))


def webhook_test(webhook_id: WebhookId, as_json: Json = False, profile: Profile = "default") -> None:
    """Post a test to a webhook."""
    with connect(profile=profile) as client:
        notice = client.notices.test_webhook(webhook_id)
    say(notice, f"A test is on its way; `dpgate notice list` shows {plain(notice['id'])}", as_json=as_json)


def _choose(change: Any, *, as_json: bool, profile: str) -> None:
    with connect(profile=profile) as client:
        found = client.notices.mute(change(set(client.notices.channels()["off"])))
    say(
        found["off"],
        f"You are not told of: {plain(', '.join(found['off']) or 'nothing; you are told of all')}",
        as_json=as_json,
    )


def _row(notice: dict[str, Any]) -> tuple[str, ...]:
    state = notice["state"] + (f": {notice['problem']}" if notice["problem"] else "")
    what = f"{notice['kind']}: {notice['sentence']}"
    return notice["id"], what, notice["channel"], state, notice["at"][:16].replace("T", " ")
