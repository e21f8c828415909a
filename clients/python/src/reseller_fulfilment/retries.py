"""Retries with the same Idempotency-Key, by the rules of the API's guide on retries and idempotency."""

import asyncio
import email.utils
import json
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import httpx

KEY = "Idempotency-Key"
"""The header of calls that create something."""

NEW_KEY = "new"
"""Default value of that header in the generated calls. The transport replaces it by a new key."""


@dataclass(frozen=True)
class RetryPolicy:
    """How often and when a call is sent again."""

    retries: int = 4
    first_delay_seconds: float = 0.25
    longest_delay_seconds: float = 8
    longest_retry_after_seconds: float = 60
    """With a longer Retry-After the answer is returned, so that the caller can plan the next attempt."""
    jitter: Callable[[], float] = field(default=random.random)
    sleep: Callable[[float], None] = field(default=time.sleep)
    async_sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep)

    def delay(self, tries: int, response: httpx.Response | None) -> float | None:
        """The seconds before the next attempt; None when there is none."""
        if tries >= self.retries:
            return None
        asked = None if response is None else retry_after(response)
        if asked is not None:
            return asked if asked <= self.longest_retry_after_seconds else None
        full = min(self.longest_delay_seconds, self.first_delay_seconds * 2.0**tries)
        return full / 2 + self.jitter() * full / 2


def prepare(request: httpx.Request) -> bool:
    """Gives the request its key. Returns whether it may be repeated although its result is not known."""
    request.url = with_commas(request.url)
    if request.headers.get(KEY) == NEW_KEY:
        request.headers[KEY] = str(uuid.uuid4())
    return KEY in request.headers or request.method in ("GET", "HEAD")


def with_commas(url: httpx.URL) -> httpx.URL:
    """The values of a list in one parameter: the generated calls repeat it, and the API separates them by commas."""
    joined = {name: ",".join(url.params.get_list(name)) for name in url.params}
    return url.copy_with(params=joined) if len(joined) < len(url.params.multi_items()) else url


def may_repeat(response: httpx.Response, harmless: bool) -> bool:
    """After 429 nothing was carried out. After other temporary failures something may have been."""
    if response.status_code == 429:
        return True
    if not harmless:
        return False
    if response.status_code == 409:
        return code_of(response) == "idempotency_in_progress"
    return response.status_code == 408 or (response.status_code >= 500 and response.status_code != 501)


def code_of(response: httpx.Response) -> str | None:
    """The code of a problem whose body was read."""
    try:
        body = json.loads(response.content)
    except ValueError:
        return None
    code = body.get("code") if isinstance(body, dict) else None
    return code if isinstance(code, str) else None


def retry_after(response: httpx.Response) -> float | None:
    """The seconds of a Retry-After header."""
    header = response.headers.get("Retry-After")
    if header is None:
        return None
    if header.isdigit():
        return float(header)
    at = email.utils.parsedate_tz(header)
    return None if at is None else max(0.0, email.utils.mktime_tz(at) - time.time())


class RetryTransport(httpx.BaseTransport):
    """Sends each request again while that is safe and useful."""

    def __init__(self, transport: httpx.BaseTransport, policy: RetryPolicy) -> None:
        self._transport = transport
        self._policy = policy

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        harmless = prepare(request)
        tries = 0
        while True:
            response: httpx.Response | None = None
            try:
                response = self._transport.handle_request(request)
                response.read()
                if response.is_success or not may_repeat(response, harmless):
                    return response
            except httpx.TransportError:
                # The answer was lost or broke off.
                if not harmless or self._policy.delay(tries, None) is None:
                    raise
                response = None
            delay = self._policy.delay(tries, response)
            if delay is None:
                assert response is not None
                return response
            self._policy.sleep(delay)
            tries += 1

    def close(self) -> None:
        self._transport.close()


class AsyncRetryTransport(httpx.AsyncBaseTransport):
    """The same for asynchronous calls."""

    def __init__(self, transport: httpx.AsyncBaseTransport, policy: RetryPolicy) -> None:
        self._transport = transport
        self._policy = policy

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        harmless = prepare(request)
        tries = 0
        while True:
            response: httpx.Response | None = None
            try:
                response = await self._transport.handle_async_request(request)
                await response.aread()
                if response.is_success or not may_repeat(response, harmless):
                    return response
            except httpx.TransportError:
                if not harmless or self._policy.delay(tries, None) is None:
                    raise
                response = None
            delay = self._policy.delay(tries, response)
            if delay is None:
                assert response is not None
                return response
            await self._policy.async_sleep(delay)
            tries += 1

    async def aclose(self) -> None:
        await self._transport.aclose()
