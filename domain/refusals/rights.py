"""What somebody may not do, whoever they are."""

from domain.errors import NotAllowed, Unauthenticated
from domain.refusals.fields import Refusal

# fmt: off
NO_TOKEN = Refusal(
    "no_token", Unauthenticated, "authorization",
    "no token came with the request.", "Log in with `dpgate login --url https://dpgate.example.org`.",
)
ROLE = Refusal(
    "role", NotAllowed, "user",
    "you are logged in as {name} ({role}); only {who} can {deed}.",
    "Use the login of one of them, or ask one.",
)
TOKEN = Refusal(
    "token", NotAllowed, "authorization",
    "this token is not made to {deed}.", "{instead}",
)
FRESH_LOGIN = Refusal(
    "fresh_login", NotAllowed, "authorization",
    "this needs a fresh login, which no token shows.", "Do it in a browser.",
)
OWN_JOB = Refusal(
    "own_job", NotAllowed, "user",
    "the author of a job cannot decide on it.", "Ask another rights holder.",
)
SERVICE = Refusal(
    "service", NotAllowed, "authorization",
    "no service can {deed} for somebody.", "Log in yourself and do it there.",
)
SERVICE_FOR_ROLE = Refusal(
    "service_for_role", NotAllowed, "authorization",
    "no service acts for somebody who is {role}.", "Log in yourself and do it there.",
    reason="acting_for_role",
)
SERVICE_IN_PERSON = Refusal(
    "service_in_person", NotAllowed, "authorization",
    "the policy of {dataset} takes no jobs that a service submits for somebody.",
    "Log in yourself and submit it.",
)
