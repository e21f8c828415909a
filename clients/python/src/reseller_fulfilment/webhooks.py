"""Verifies event webhooks by the Standard Webhooks specification (https://www.standardwebhooks.com)."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from typing import Any

TOLERANCE_SECONDS = 300
PREFIX = "whsec_"


class InvalidWebhookError(Exception):
    """The request is not from the API, was altered, or is too old."""


def verify_webhook(
    secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None
) -> dict[str, Any]:
    """The event of a webhook, after its signature was verified.

    `body` must be the bytes as they arrived. The same event may arrive more than once, with the same `webhook-id`.

    Raises InvalidWebhookError; answer it with 400.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        webhook_id = given["webhook-id"]
        timestamp = _seconds_of(given["webhook-timestamp"])
        signatures = given["webhook-signature"].split(" ")
    except (KeyError, ValueError) as error:
        raise InvalidWebhookError("the headers of a webhook are missing") from error
    if abs((time.time() if now is None else now) - timestamp) > TOLERANCE_SECONDS:
        raise InvalidWebhookError("the webhook is too old, or the clock is wrong")
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    digest = hmac.new(_key_of(secret), signed, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    if not any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in signatures):
        raise InvalidWebhookError("no signature is valid")
    event = json.loads(body)
    if not isinstance(event, dict):
        raise InvalidWebhookError("the body is not an event")
    return event


def _seconds_of(timestamp: str) -> int:
    if re.fullmatch(r"[0-9]{1,12}", timestamp) is None:
        raise ValueError("not a time in seconds")
    return int(timestamp)


def _key_of(secret: str) -> bytes:
    """Raises ValueError for something that is not a secret of an endpoint."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("this is not a webhook secret") from error
    if not secret.startswith(PREFIX) or len(key) < 24:
        raise ValueError("this is not a webhook secret")
    return key
