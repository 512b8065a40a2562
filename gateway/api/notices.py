"""Routes of notices and of the channels that they go by."""

from __future__ import annotations

from fastapi import APIRouter

from desk import channels, notices
from gateway.offers import TheWays
from gateway.problems import RESPONSES, responses
from gateway.routes import PREFIX, OurId
from gateway.serving import served

router = APIRouter(prefix=PREFIX, tags=["notices"], responses=RESPONSES)

router.get("/notices", summary="What was sent to you, newest first")(served(notices.list_notices))
router.post("/notices/{notice_id}/retry", summary="Try one of yours again that was given up")(
    served(notices.retry_notice, notice_id=OurId)
)
router.get("/operation/notices", summary="How many notices wait, were sent, or were given up")(
    served(notices.notice_standing)
)
router.post("/operation/notices/retry", summary="Try notices again that were given up")(
    served(notices.retry_notices)
)

channel_routes = APIRouter(prefix=f"{PREFIX}/channels", tags=["notices"], responses=RESPONSES)
LIMITED = responses(429)
channel_routes.get("", summary="Where your notices go")(served(channels.get_channels, ways=TheWays))
channel_routes.put("/email", summary="Set your e-mail address", responses=LIMITED)(
    served(channels.set_email, ways=TheWays)
)
channel_routes.post("/email/confirmation", summary="Confirm your e-mail address")(
    served(channels.confirm_email, ways=TheWays)
)
channel_routes.delete("/email", summary="Remove your e-mail address")(
    served(channels.remove_email, ways=TheWays)
)
channel_routes.post("/webhooks", status_code=201, summary="Add a webhook")(
    served(channels.add_webhook, ways=TheWays)
)
channel_routes.delete("/webhooks/{webhook_id}", summary="Remove a webhook")(
    served(channels.remove_webhook, ways=TheWays, webhook_id=OurId)
)
channel_routes.post("/webhooks/{webhook_id}/rotation", summary="Replace the secret of a webhook")(
    served(channels.rotate_webhook, webhook_id=OurId)
)
channel_routes.post("/webhooks/{webhook_id}/test", summary="Post a test to a webhook", responses=LIMITED)(
    served(channels.try_webhook, webhook_id=OurId)
)
channel_routes.put("/off", summary="Choose what you are not told")(served(channels.set_muted, ways=TheWays))
