"""Adds rules between fields, and ids of existing resources, which the description does not contain.

Changes only requests that should be valid. Invalid requests are sent unchanged.
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
        # The API refuses the same key with another body. Other tests check that.
        headers["Idempotency-Key"] = str(uuid.uuid4())
    query = case.query
    if isinstance(query, dict):
        # A random cursor is not valid. Only `next_cursor` of the previous page is.
        query.pop("cursor", None)
        # A link takes a value from the answer before, which may be null there.
        for name in [name for name, value in query.items() if value is None or value == "None"]:
            query.pop(name)
        if "wait" in query:
            # Longer waits are allowed, but nothing will change.
            query["wait"] = 1
        if "type" in query and "subject_kind" in query:
            # Only some types have such a subject.
            query.pop("subject_kind")
        for name, value in query.items():
            query[name] = possible_time(value)
    if "Prefer" in headers:
        headers["Prefer"] = "wait=1"
    body = case.body
    if isinstance(body, dict):
        if "esim_id" in body:
            body["esim_id"] = FACTS["esim_id"]
        if "deadline" in body:
            # A schema cannot require a time in the future.
            body["deadline"] = "2100-01-31T12:00:00Z"
        if case.operation.path.endswith("/share-links"):
            # A schema can neither require a time close to now nor forbid it beside a duration.
            body.pop("expires_at", None)
        body.update({name: possible_time(value) for name, value in body.items()})
        if isinstance(body.get("filter"), dict):
            body["filter"] = {name: possible_time(value) for name, value in body["filter"].items()}
        if "url" in body:
            # A complete public URL, as the text of the description requires.
            body["url"] = "https://shop.example.com/webhooks"
        if case.operation.path.endswith("/replay"):
            body.setdefault("since", "")
            name_one(body, "event_id", "delivery_id", "since")
        if case.operation.path.endswith("/bulk-actions"):
            fit_act(body)
        if case.operation.path.endswith("/retry-policy"):
            fit_retry_policy(body)
        if "since" in body:
            body["since"] = "2020-01-31T12:00:00Z"
        elif "event_id" in body or "delivery_id" in body:
            # These are allowed only with a time.
            body.pop("until", None)
            body.pop("which", None)
        for terms in [body.get("terms"), *(rule.get("terms") for rule in body.get("rules", []))]:
            if isinstance(terms, dict) and isinstance(terms.get("rounding"), dict):
                # The ending must be less than the step.
                terms["rounding"].update({"step": "1", "ending": "0.99"})
        try_prices(body)
    if takes(case, SIGNATURE):
        sign(case, headers)
    case.headers = headers


def fit_act(body):
    """Removes a limit, and a verdict, from other actions."""
    if body.get("action") == "limit":
        body.setdefault("max_price", None)
    else:
        body.pop("max_price", None)
    if body.get("action") == "resolve":
        body.setdefault("case", "outcome_unknown")
        body.setdefault("verdict", "not_bought")
    else:
        for name in ("case", "verdict", "next"):
            body.pop(name, None)
    if isinstance(body.get("filter"), dict) and "ids" not in body["filter"]:
        # Selects little work, because a hundred transactions for each case would take too long.
        body["filter"]["created_before"] = "2021-01-31T12:00:00Z"


def fit_retry_policy(body):
    """At least one field must change, and the first wait must not exceed the longest."""
    first, longest = body.get("first_wait_seconds"), body.get("longest_wait_seconds")
    if first is not None and longest is not None and first > longest:
        body["longest_wait_seconds"] = first
    if not any(name in body for name in ("attempts", "first_wait_seconds", "longest_wait_seconds", "deadline")):
        body["attempts"] = 3


def name_one(body, *names):
    """Keeps only one of these fields."""
    given = [name for name in names if name in body]
    for name in given[1:]:
        body.pop(name)


def try_prices(body):
    """Uses existing ids, each once, and one rule for each target."""
    if "package_ids" in body:
        body["package_ids"] = [FACTS["package_id"]]
    if "vpn_plan_ids" in body:
        body["vpn_plan_ids"] = [FACTS["vpn_plan_id"]]
    for name in ("price_list", "selling_prices"):
        body.get(name, [])[1:] = []
        for each in body.get(name, []):
            each["id"] = FACTS["package_id"] if each["kind"] == "package" else FACTS["vpn_plan_id"]
    if "rules" in body:
        body["rules"] = body["rules"][:1]


def possible_time(value):
    """Limits years to 1970 to 9998. The description says this only in its text."""
    found = re.match(r"(\d{4})-\d\d-\d\dT", value) if isinstance(value, str) else None
    if found is None or 1971 <= int(found.group(1)) <= 9997:
        return value
    return "2030-01-31T12:00:00Z"


def takes(case, name):
    return any(each.name == name for each in case.operation.headers)


def sign(case, headers):
    """Signs the sent bytes as the service does."""
    content = json.dumps(case.body).encode()
    timestamp = str(int(time.time()))
    secret = FACTS["webhook_secret"].encode()
    signature = hmac.new(secret, timestamp.encode() + b"." + content, hashlib.sha256).hexdigest()
    case.body = content
    case.media_type = "application/json"
    headers[TIMESTAMP] = timestamp
    headers[SIGNATURE] = f"v1={signature}"
    headers[DELIVERY] = str(uuid.uuid4())
