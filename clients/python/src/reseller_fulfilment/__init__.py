"""Client of the reseller fulfilment API.

`reseller_fulfilment.rest` is generated from the OpenAPI description of the API. The other modules are written by hand.
"""

from .answers import NoAnswerError, ProblemError, items, ok
from .connection import connect
from .webhooks import InvalidWebhookError, verify_webhook

__all__ = ["InvalidWebhookError", "NoAnswerError", "ProblemError", "connect", "items", "ok", "verify_webhook"]
