"""Opens a client with time-outs, retries and idempotency keys."""

from .rest import AuthenticatedClient
from .retries import AsyncRetryTransport, RetryPolicy, RetryTransport

import httpx


def connect(
    base_url: str,
    api_key: str,
    *,
    policy: RetryPolicy | None = None,
    timeout_seconds: float = 90,
    transport: httpx.BaseTransport | None = None,
    async_transport: httpx.AsyncBaseTransport | None = None,
) -> AuthenticatedClient:
    """Makes a client for the calls of `reseller_fulfilment.rest.api`.

    `timeout_seconds` is for one attempt. It must be longer than the wait that a call asks for (`prefer="wait=50"`).
    `transport` and `async_transport` replace the network, for tests.
    """
    rules = policy or RetryPolicy()
    client = AuthenticatedClient(base_url=base_url, token=api_key, raise_on_unexpected_status=True)
    headers = {client.auth_header_name: f"{client.prefix} {api_key}", "Accept": "application/json, */*;q=0.5"}
    timeout = httpx.Timeout(timeout_seconds)
    client.set_httpx_client(
        httpx.Client(
            base_url=base_url,
            headers=headers,
            timeout=timeout,
            transport=RetryTransport(transport or httpx.HTTPTransport(), rules),
        )
    )
    client.set_async_httpx_client(
        httpx.AsyncClient(
            base_url=base_url,
            headers=headers,
            timeout=timeout,
            transport=AsyncRetryTransport(async_transport or httpx.AsyncHTTPTransport(), rules),
        )
    )
    return client
