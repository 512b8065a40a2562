"""The background of a gateway: every few seconds it sends what is due.

Several gateways may run; each notice is claimed by one. Nothing here can disturb a request: whatever fails
becomes a word on the notice, or a line in the log without anybody's text.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from domain.errors import NotReady
from domain.notice import Channel, NoticeKind, NoticeState, SendProblem
from gateway.config import GatewaySettings
from gateway.notices.addresses import NotSent, Rules
from gateway.notices.mail import MailServer, message_of
from gateway.notices.webhook import WebhookPost
from store import channels, outbox
from store.database import Database
from store.outbox import Claimed

log = logging.getLogger(__name__)
EVERY_S = 3.0
AT_ONCE = 16
PER_TURN = 8
CLEANED_EVERY = timedelta(hours=1)


class Sender:
    """Sends due notices, by mail where `mail` is given, to webhooks where `post` is."""

    def __init__(
        self,
        database: Database,
        *,
        mail: MailServer | None,
        post: WebhookPost | None,
        public_url: str | None = None,
        every_s: float = EVERY_S,
    ) -> None:
        self._database = database
        self._mail, self._post = mail, post
        self._public_url = public_url
        self._every_s = every_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notices", daemon=True)
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="notice")
        # receivers to whom something is on its way: what else they get waits, and nobody waits for them
        self._busy: set[str] = set()
        self._lock = threading.Lock()
        self._cleaned_at: datetime | None = None

    @classmethod
    def of(cls, settings: GatewaySettings, database: Database) -> Sender | None:
        """None where the operator wants none, or set up neither mail nor webhooks."""
        mail, rules = mail_server(settings), rules_of(settings)
        if not settings.send_notices or (mail is None and not rules.allow_any):
            return None
        post = WebhookPost(rules) if rules.allow_any else None
        return cls(database, mail=mail, post=post, public_url=settings.public_url)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End after the attempts that have begun; what was claimed and not begun waits for its lease."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        self._pool.shutdown()

    def send_due(self, now: datetime) -> int:
        """One turn: claim some that are due, try each once; how many were tried, when all have been."""
        begun, count = self._begin(now)
        for one in begun:
            one.result()
        return count

    def _begin(self, now: datetime) -> tuple[list[Future[None]], int]:
        """Claim some that are due, and begin to try them: one receiver's in turn, receivers side by side."""
        with self._database.reading() as connection:
            if not outbox.has_due(connection, now):
                return [], 0
        with self._lock:
            busy = set(self._busy)
        with self._database.transaction() as connection:
            claimed = outbox.claim(connection, now, limit=PER_TURN, but_not=busy)
        by_receiver: dict[str, list[Claimed]] = {}
        for one in claimed:
            by_receiver.setdefault(one.sending.webhook_id or outbox.MAIL, []).append(one)
        with self._lock:
            self._busy |= by_receiver.keys()
        return [
            self._pool.submit(self._try_all, receiver, theirs, now)
            for receiver, theirs in by_receiver.items()
        ], len(claimed)

    def _try_all(self, receiver: str, theirs: list[Claimed], now: datetime) -> None:
        try:
            for one in theirs:
                self._try(one, now)
        finally:
            with self._lock:
                self._busy.discard(receiver)

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                now = datetime.now(UTC)
                self._clean(now)
                # not waited for: a receiver that is slow to answer delays its own notices alone
                busy = self._begin(now)[1] == PER_TURN
            except Exception as error:  # the database may be away for a while: the thread stays
                log.warning("notices cannot be sent now: %s", type(error).__name__)
                busy = False
            if not busy:
                self._ended.wait(self._every_s)

    def _try(self, claimed: Claimed, now: datetime) -> None:
        if self._ended.is_set():
            return
        sending = claimed.sending
        problem = self._attempt(claimed, now)
        with self._database.transaction() as connection:
            state = outbox.finish(connection, claimed, problem, now)
        if problem is not None:
            level = logging.WARNING if state is NoticeState.DEAD else logging.INFO
            log.log(level, "notice %s by %s: %s", sending.notice.id, sending.channel, problem)

    def _attempt(self, claimed: Claimed, now: datetime) -> SendProblem | None:
        try:
            if claimed.sending.channel is Channel.EMAIL:
                self._send_mail(claimed, now)
            else:
                self._post_to_webhook(claimed, now)
        except NotSent as error:
            return error.problem
        except Exception as error:  # one notice must not keep the others from being sent
            log.error("notice %s: unexpected %s", claimed.sending.notice.id, type(error).__name__)
            return SendProblem.FAULT
        return None

    def _send_mail(self, claimed: Claimed, now: datetime) -> None:
        sending, mail = claimed.sending, self._mail
        if mail is None:
            raise NotSent(SendProblem.SWITCHED_OFF)
        is_asking = sending.notice.kind is NoticeKind.CONFIRMATION
        with self._database.transaction() as connection:
            found = channels.find_address(connection, sending.name)
            if found is None or (found.confirmed_at is None) != is_asking:
                raise NotSent(SendProblem.NO_CHANNEL)
            code = channels.new_code(connection, sending.name, now) if is_asking else None
        mail.send(
            message_of(
                sending.notice,
                to=found.address,
                sender=mail.sender,
                public_url=self._public_url,
                code=code,
                now=now,
            )
        )

    def _post_to_webhook(self, claimed: Claimed, now: datetime) -> None:
        sending, post = claimed.sending, self._post
        if post is None:
            raise NotSent(SendProblem.SWITCHED_OFF)
        with self._database.reading() as connection:
            found = channels.signing_secrets(connection, sending.name, sending.webhook_id or "", now)
        if found is None:
            raise NotSent(SendProblem.NO_CHANNEL)
        post.send(sending.notice, *found, now)

    def _clean(self, now: datetime) -> None:
        if self._cleaned_at is None or now - self._cleaned_at > CLEANED_EVERY:
            with self._database.transaction() as connection:
                outbox.forget_old(connection, now)
            self._cleaned_at = now


def rules_of(settings: GatewaySettings) -> Rules:
    return Rules.of(
        settings.webhook_hosts, loopback=settings.webhook_loopback, networks=settings.webhook_networks
    )


def mail_server(settings: GatewaySettings) -> MailServer | None:
    """None without DPGATE_SMTP_URL. Raises NotReady when the password's file cannot be read."""
    if settings.smtp_url is None or settings.mail_from is None:
        return None
    password = None
    if settings.smtp_password_file is not None:
        try:
            password = settings.smtp_password_file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            raise NotReady("the file of DPGATE_SMTP_PASSWORD_FILE cannot be read") from None
    return MailServer(settings.smtp_url, settings.mail_from, settings.smtp_user, password)
