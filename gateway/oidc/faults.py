"""Why somebody is not let in: one table of reasons, each with its own sentence and what to do.

The reason is what logs, metrics and the audit trail have; the sentence is what the person reads. No text of a
token, and none of the provider's but OAuth's own error codes, is in either.
"""

from __future__ import annotations

from enum import StrEnum

from domain.errors import Unauthenticated

AGAIN = "Log in again."
OPERATOR = "Tell the operator."


class Fault(StrEnum):
    """Each is a label in metrics."""

    # of a token
    TOO_LONG = "too_long"
    UNSIGNED = "unsigned"
    BAD_SIGNATURE = "bad_signature"
    UNKNOWN_KEY = "unknown_key"
    WRONG_KIND = "wrong_kind"
    WRONG_ISSUER = "wrong_issuer"
    EXPIRED = "expired"
    NOT_YET = "not_yet"
    WRONG_AUDIENCE = "wrong_audience"
    WRONG_CLIENT = "wrong_client"
    TWO_CLIENTS = "two_clients"
    NO_CLIENT = "no_client"
    SERVICE_OR_PERSON = "service_or_person"
    NO_SUBJECT = "no_subject"
    UNREADABLE_AUDIENCE = "unreadable_audience"
    UNREADABLE_TIME = "unreadable_time"
    OTHER_LOGIN = "other_login"
    SEVERAL_CLIENTS = "several_clients"
    ACTING = "acting"
    # of a token that its maker alone can read
    UNREADABLE = "unreadable"
    INACTIVE = "inactive"
    TOO_MANY = "too_many"
    # of what the provider says of somebody
    OTHER_SUBJECT = "other_subject"
    MISSING_CLAIM = "missing_claim"
    TOO_MANY_GROUPS = "too_many_groups"
    # of a login in a browser
    NOT_BEGUN = "not_begun"
    DECLINED = "declined"
    NO_ISSUER = "no_issuer"
    OTHER_ISSUER = "other_issuer"
    CODE_USED = "code_used"
    NO_TOKENS = "no_tokens"
    # of the provider
    CLIENT_SECRET = "client_secret"  # noqa: S105
    REFUSED = "refused"
    DOWN = "provider_down"
    BAD_ANSWER = "bad_answer"
    OTHER_NAME = "other_name"
    NO_ENDPOINT = "no_endpoint"


# what is found out about the account here, once the provider was heard
OF_ACCOUNTS = (
    "no_role",
    "disabled",
    "older_word",
    "past_word",
    "login_ended",
    "person_first",
    "acting_for_role",
)
# the codes of RFC 6749 5.2 and 4.1.2.1, RFC 6750 3.1 and OpenID Connect Core 3.1.2.6 that may be repeated
OAUTH_ERRORS = frozenset(
    {
        "access_denied", "account_selection_required", "consent_required", "insufficient_scope",
        "interaction_required", "invalid_client", "invalid_grant", "invalid_request", "invalid_scope",
        "invalid_token", "login_required", "server_error", "temporarily_unavailable", "unauthorized_client",
        "unmet_authentication_requirements", "unsupported_grant_type", "unsupported_response_type",
    }
)  # fmt: skip

SENTENCES: dict[Fault, tuple[str, str]] = {
    Fault.TOO_LONG: ("the token is too long.", AGAIN),
    Fault.UNSIGNED: ("the token is not signed with RS256 or ES256.", AGAIN),
    Fault.BAD_SIGNATURE: ("the token has no valid signature.", AGAIN),
    Fault.UNKNOWN_KEY: ("the token is signed with no key of the provider.", AGAIN),
    Fault.WRONG_KIND: ("the token is no access token.", AGAIN),
    Fault.WRONG_ISSUER: ("the token is from another provider.", AGAIN),
    Fault.EXPIRED: ("the token has expired.", AGAIN),
    Fault.NOT_YET: (
        "the token is not valid yet.",
        "Log in again; if it goes on, tell the operator: a clock is off.",
    ),
    Fault.WRONG_AUDIENCE: (
        "the token is for another platform.",
        "Log in again; if it goes on, the provider must name DPGATE_OIDC_AUDIENCE in `aud`.",
    ),
    Fault.WRONG_CLIENT: ("the token was given to another client.", AGAIN),
    Fault.TWO_CLIENTS: ("the token names two clients.", OPERATOR),
    Fault.NO_CLIENT: (
        "the token does not say to which client it was given.",
        "Tell the operator: where DPGATE_OIDC_ACTING lists clients, tokens must name theirs.",
    ),
    Fault.SERVICE_OR_PERSON: (
        "the token is of a client that is a service here, and does not say whether a person is behind it.",
        "Let the provider give services their client as `sub`, or give people another client.",
    ),
    Fault.NO_SUBJECT: ("the token names nobody.", AGAIN),
    Fault.UNREADABLE_AUDIENCE: ("the token has no readable audience.", AGAIN),
    Fault.UNREADABLE_TIME: ("the token has no readable times.", AGAIN),
    Fault.OTHER_LOGIN: ("the token belongs to another login.", AGAIN),
    Fault.SEVERAL_CLIENTS: ("the token was made for several clients.", AGAIN),
    Fault.ACTING: (
        "the token lets somebody act for a person who may not do so here.",
        "Tell the operator: only clients of DPGATE_OIDC_ACTING act for people, each by its own token.",
    ),
    Fault.UNREADABLE: ("the token cannot be read.", AGAIN),
    Fault.INACTIVE: ("the token is not valid.", AGAIN),
    Fault.TOO_MANY: ("the token cannot be looked up right now.", "Try again in a second."),
    Fault.OTHER_SUBJECT: ("the token belongs to somebody else.", AGAIN),
    Fault.MISSING_CLAIM: (
        "the identity provider does not say what you are entitled to.",
        "Tell the operator: the claim of DPGATE_OIDC_CLAIM comes neither in the token nor from userinfo.",
    ),
    Fault.TOO_MANY_GROUPS: (
        "you are in so many groups that the identity provider leaves them out.",
        "Tell the operator: let the provider send roles of this platform, or its groups alone.",
    ),
    Fault.NOT_BEGUN: ("was not begun in this browser, or it took too long.", AGAIN),
    Fault.DECLINED: ("was not completed at the identity provider.", AGAIN),
    Fault.NO_ISSUER: ("came back without the provider's name, which it promises to send.", AGAIN),
    Fault.OTHER_ISSUER: ("came back from another provider.", AGAIN),
    Fault.CODE_USED: ("came back with a code that was used before or is too old.", AGAIN),
    Fault.NO_TOKENS: ("the token is missing from the provider's answer.", OPERATOR),
    Fault.CLIENT_SECRET: (
        "the identity provider does not accept this platform's client and secret.",
        "Tell the operator: `dpgate oidc check` says more.",
    ),
    Fault.REFUSED: ("the identity provider refuses what this platform asks of it.", OPERATOR),
    Fault.DOWN: (
        "the identity provider does not answer.",
        "Try again soon; if it goes on, tell the operator.",
    ),
    Fault.BAD_ANSWER: (
        "the identity provider does not answer as it should.",
        "Try again soon; if it goes on, tell the operator.",
    ),
    Fault.OTHER_NAME: (
        "the identity provider names itself otherwise.",
        "Tell the operator: DPGATE_OIDC_ISSUER is compared letter by letter, a / at its end included.",
    ),
    Fault.NO_ENDPOINT: ("the identity provider lacks an address that this needs.", OPERATOR),
}
_OF_LOGINS = frozenset(
    {
        Fault.NOT_BEGUN, Fault.DECLINED, Fault.NO_ISSUER, Fault.OTHER_ISSUER, Fault.CODE_USED,
    }
)  # fmt: skip


def refused(fault: Fault) -> Unauthenticated:
    """The refusal, to be raised."""
    problem, fix = SENTENCES[fault]
    field = "login" if fault in _OF_LOGINS else "authorization"
    return Unauthenticated(field, problem, fix, reason=fault)
