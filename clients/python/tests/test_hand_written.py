"""Tests of the part that is written by hand; the network is replaced."""

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import unittest
from collections.abc import Callable
from typing import Any

import httpx

from reseller_fulfilment import InvalidWebhookError, ProblemError, connect, items, ok, verify_webhook
from reseller_fulfilment.rest.api.operator_actions import retry_order
from reseller_fulfilment.rest.api.orders import create_order, list_orders
from reseller_fulfilment.rest.api.purchase_gate import end_pause, start_after_drift
from reseller_fulfilment.rest.models import ListOrdersMetadata, OperatorAction, OrderInput, Problem
from reseller_fulfilment.retries import RetryPolicy

BODY = OrderInput(package_id=1, external_order_id="sale-1")
Answer = Callable[[httpx.Request], httpx.Response]


def problem(status: int, code: str, **headers: str) -> httpx.Response:
    body = {"type": "/problems/x", "title": "T", "status": status, "code": code, "detail": "D.", "request_id": "req_1"}
    return httpx.Response(status, json=body, headers=headers)


class Network:
    """Gives the answers in their order, and records requests and pauses."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []
        transport = httpx.MockTransport(self.answer)
        policy = RetryPolicy(sleep=self.pauses.append, async_sleep=self.pause, jitter=lambda: 1.0)
        self.client = connect("http://api.test", "rsk_x", policy=policy, transport=transport, async_transport=transport)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    @property
    def keys(self) -> set[str]:
        return {request.headers["Idempotency-Key"] for request in self.requests}


class Retries(unittest.TestCase):
    def test_repeats_a_purchase_with_the_same_new_key_until_it_is_answered(self) -> None:
        network = Network(httpx.ConnectError("x"), httpx.Response(503), httpx.ReadError("x"), problem(422, "no"))
        answer = create_order.sync(client=network.client, body=BODY)
        self.assertIsInstance(answer, Problem)
        self.assertEqual(len(network.requests), 4)
        self.assertEqual(len(network.keys), 1)
        self.assertNotIn("new", network.keys)
        self.assertEqual(network.pauses, [0.25, 0.5, 1.0])
        other = Network(problem(422, "no"))
        create_order.sync(client=other.client, body=BODY)
        self.assertTrue(other.keys.isdisjoint(network.keys))

    def test_writes_the_values_of_a_list_and_pairs_as_the_api_reads_them(self) -> None:
        network = Network(problem(400, "no"))
        pairs = ListOrdersMetadata.from_dict({"metadata[shop_order]": "A-1 & more"})
        list_orders.sync(client=network.client, external_order_id=["sale-1", "sale+2"], metadata=pairs)
        sent = network.requests[0].url.params.multi_items()
        self.assertEqual(sent[0], ("external_order_id", "sale-1,sale+2"))
        self.assertIn(("metadata[shop_order]", "A-1 & more"), sent)

    def test_keeps_the_key_of_the_caller(self) -> None:
        network = Network(problem(422, "no"))
        create_order.sync(client=network.client, body=BODY, idempotency_key="mine")
        self.assertEqual(network.keys, {"mine"})

    def test_waits_as_long_as_the_api_asks_and_gives_up_when_that_is_too_long(self) -> None:
        network = Network(problem(429, "rate", **{"Retry-After": "7"}), problem(429, "rate", **{"Retry-After": "61"}))
        self.assertIsInstance(create_order.sync(client=network.client, body=BODY), Problem)
        self.assertEqual(network.pauses, [7.0])

    def test_never_repeats_an_action_without_a_key_whose_result_is_not_known(self) -> None:
        for lost in (httpx.ReadTimeout("x"), httpx.ReadError("x")):
            network = Network(lost)
            with self.assertRaises(httpx.TransportError):
                retry_order.sync("ord_1", client=network.client, body=OperatorAction(reason="x"))
            self.assertEqual(len(network.requests), 1)

    def test_repeats_a_deletion_whose_result_is_not_known_only_with_a_key(self) -> None:
        def lost() -> list[httpx.Response | Exception]:
            return [httpx.ReadError("x"), problem(503, "database_unavailable")]

        for each in lost():
            network = Network(each)
            with contextlib.suppress(httpx.TransportError):
                end_pause.sync("pau_1", client=network.client, reason="x")
            self.assertEqual(len(network.requests), 1)
        network = Network(*lost(), problem(404, "drift_stop_not_found"))
        self.assertIsInstance(start_after_drift.sync("order", client=network.client, reason="x"), Problem)
        self.assertEqual((len(network.requests), len(network.keys)), (3, 1))
        self.assertNotIn("new", network.keys)

    def test_ends_after_the_retries(self) -> None:
        network = Network(*[httpx.ConnectError("x")] * 5)
        with self.assertRaises(httpx.ConnectError):
            list_orders.sync(client=network.client)
        self.assertEqual(len(network.pauses), 4)

    def test_repeats_while_the_first_request_with_the_key_is_in_progress_and_not_after_other_conflicts(self) -> None:
        network = Network(problem(409, "idempotency_in_progress"), problem(409, "external_order_id_taken"))
        with self.assertRaises(ProblemError) as raised:
            ok(create_order.sync(client=network.client, body=BODY))
        self.assertEqual(raised.exception.code, "external_order_id_taken")
        self.assertEqual(len(network.requests), 2)

    def test_holds_for_asynchronous_calls(self) -> None:
        network = Network(httpx.ConnectError("x"), problem(422, "no"))
        answer = asyncio.run(create_order.asyncio(client=network.client, body=BODY))
        self.assertIsInstance(answer, Problem)
        self.assertEqual((len(network.requests), len(network.keys)), (2, 1))


class Lists(unittest.TestCase):
    def test_reads_page_by_page(self) -> None:
        class OnePage:
            def __init__(self, data: list[int], next_cursor: str | None) -> None:
                self.data = data
                self.next_cursor = next_cursor

        asked: list[Any] = []

        def read(**query: Any) -> OnePage:
            asked.append(query.get("cursor"))
            return OnePage([1, 2], "c1") if query.get("cursor") is None else OnePage([3], None)

        self.assertEqual(list(items(read, status="held")), [1, 2, 3])
        self.assertEqual(asked, [None, "c1"])

    def test_raises_the_refusal(self) -> None:
        network = Network(problem(400, "validation_failed"))
        with self.assertRaisesRegex(ProblemError, r"D\. \(validation_failed\)"):
            list(items(list_orders.sync, client=network.client))


class Webhooks(unittest.TestCase):
    secret = "whsec_" + base64.b64encode(b"k" * 32).decode()
    body = json.dumps({"type": "order.completed"}).encode()
    at = 1_900_000_000

    def headers(self, body: bytes, secret: str | None = None) -> dict[str, str]:
        key = base64.b64decode((secret or self.secret).removeprefix("whsec_"))
        signed = f"evt_1.{self.at}.".encode() + body
        signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return {"Webhook-Id": "evt_1", "Webhook-Timestamp": str(self.at), "Webhook-Signature": f"v1,AAAA v1,{signature}"}

    def test_returns_the_event_of_a_valid_signature(self) -> None:
        event = verify_webhook(self.secret, self.headers(self.body), self.body, now=self.at + 300)
        self.assertEqual(event["type"], "order.completed")

    def test_refuses_altered_foreign_old_and_unsigned_requests(self) -> None:
        other = "whsec_" + base64.b64encode(b"o" * 32).decode()
        for headers, body, now in [
            (self.headers(self.body), self.body + b" ", self.at),
            (self.headers(self.body, other), self.body, self.at),
            (self.headers(self.body), self.body, self.at + 301),
            (self.headers(self.body), self.body, self.at - 301),
            ({}, self.body, self.at),
            ({**self.headers(self.body), "Webhook-Signature": "é"}, self.body, self.at),
            ({**self.headers(self.body), "Webhook-Timestamp": "9" * 400}, self.body, self.at),
        ]:
            with self.assertRaises(InvalidWebhookError):
                verify_webhook(self.secret, headers, body, now=now)

    def test_refuses_a_secret_that_is_none(self) -> None:
        for secret in ("whsec_short", "", "secret", "whsec_ö"):
            with self.assertRaises(ValueError):
                verify_webhook(secret, self.headers(self.body), self.body, now=self.at)


if __name__ == "__main__":
    unittest.main()
