"""What schemathesis cannot know from the description alone: rules between fields, and what exists in the running product.

Only requests that are meant to be valid are touched; what is meant to be refused goes out as it was made.
"""

import hashlib
import hmac
import json
import os
import re
import time
import uuid

import schemathesis
from schemathesis import GenerationMode

with open(os.environ["API_FUZZ_FACTS"], encoding="utf-8") as file:
    FACTS = json.load(file)

SIGNATURE = "X-Service-Signature"
TIMESTAMP = "X-Service-Timestamp"
DELIVERY = "X-Service-Delivery"


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    headers = case.headers if case.headers is not None else {}
    if takes(case, "Idempotency-Key"):
        # A key stands for one operation: that it is refused with another body is right, and tested elsewhere.
        headers["Idempotency-Key"] = str(uuid.uuid4())
    query = case.query
    if isinstance(query, dict):
        # Opaque: only `next_cursor` of the page before is one.
        query.pop("cursor", None)
        if "wait" in query:
            # Allowed for longer; nobody is there to wait for.
            query["wait"] = 1
        for name, value in query.items():
            query[name] = possible_time(value)
    if "Prefer" in headers:
        headers["Prefer"] = "wait=1"
    body = case.body
    if isinstance(body, dict):
        if "esim_id" in body:
            body["esim_id"] = FACTS["esim_id"]
        if "deadline" in body:
            # In the future, which no schema can say.
            body["deadline"] = "2100-01-31T12:00:00Z"
        if isinstance(body.get("filter"), dict):
            body["filter"] = {name: possible_time(value) for name, value in body["filter"].items()}
    if takes(case, SIGNATURE):
        sign(case, headers)
    case.headers = headers


def possible_time(value):
    """Years from 1970 to 9998, in words in the description: no format says it."""
    found = re.match(r"(\d{4})-\d\d-\d\dT", value) if isinstance(value, str) else None
    if found is None or 1971 <= int(found.group(1)) <= 9997:
        return value
    return "2030-01-31T12:00:00Z"


def takes(case, name):
    return any(each.name == name for each in case.operation.headers)


def sign(case, headers):
    """As the service does, over the bytes that will be sent."""
    content = json.dumps(case.body).encode()
    timestamp = str(int(time.time()))
    signature = hmac.new(FACTS["webhook_secret"].encode(), timestamp.encode() + b"." + content, hashlib.sha256).hexdigest()
    case.body = content
    case.media_type = "application/json"
    headers[TIMESTAMP] = timestamp
    headers[SIGNATURE] = f"v1={signature}"
    headers[DELIVERY] = str(uuid.uuid4())
