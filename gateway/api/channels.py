"""Routes of channels."""

from __future__ import annotations

from fastapi import APIRouter

from desk import channels
from gateway.offers import TheWays
from gateway.problems import RESPONSES, responses
from gateway.routes import PREFIX, OurId
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/channels", tags=["notices"], responses=RESPONSES)
LIMITED = responses(429)
router.get("", summary="Where your notices go")(served(channels.get_channels, ways=TheWays))
router.put("/email", summary="Set your e-mail address", responses=LIMITED)(
    served(channels.set_email, ways=TheWays)
)
router.post("/email/confirmation", summary="Confirm your e-mail address")(
    served(channels.confirm_email, ways=TheWays)
)
router.delete("/email", summary="Remove your e-mail address")(served(channels.remove_email, ways=TheWays))
router.post("/webhooks", status_code=201, summary="Add a webhook")(served(channels.add_webhook, ways=TheWays))
router.delete("/webhooks/{webhook_id}", summary="Remove a webhook")(
    served(channels.remove_webhook, ways=TheWays, webhook_id=OurId)
)
router.post("/webhooks/{webhook_id}/rotation", summary="Replace the secret of a webhook")(
    served(channels.rotate_webhook, webhook_id=OurId)
)
router.post("/webhooks/{webhook_id}/test", summary="Post a test to a webhook", responses=LIMITED)(
    served(channels.try_webhook, webhook_id=OurId)
)
router.put("/off", summary="Choose what you are not told")(served(channels.set_muted, ways=TheWays))
