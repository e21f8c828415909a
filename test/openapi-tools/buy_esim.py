"""A shop with the client that openapi-python-client generates: it buys an eSIM and prints its activation code."""

import sys
import uuid

import httpx
from reseller_fulfilment_api_client import AuthenticatedClient
from reseller_fulfilment_api_client.api.orders import create_order, get_order
from reseller_fulfilment_api_client.api.packages import list_packages
from reseller_fulfilment_api_client.models import (
    EsimActivation,
    GetOrderExpandItem,
    MoneyInput,
    Order,
    OrderInput,
    PackagePage,
    Problem,
)


def main(address: str, key: str) -> None:
    client = AuthenticatedClient(base_url=address, token=key, timeout=httpx.Timeout(60))

    packages = list_packages.sync(client=client, limit=1)
    if not isinstance(packages, PackagePage):
        sys.exit(f"no list of packages: {packages}")
    [package] = packages.data

    wrong = create_order.sync(
        client=client,
        idempotency_key=str(uuid.uuid4()),
        body=OrderInput(package_id=package.id, external_order_id="a b"),
    )
    if not isinstance(wrong, Problem):
        sys.exit(f"a wrong reference was accepted: {wrong}")
    print(wrong.detail)

    order = create_order.sync(
        client=client,
        idempotency_key=str(uuid.uuid4()),
        prefer="wait=50",
        body=OrderInput(
            package_id=package.id,
            external_order_id=f"python-{uuid.uuid4()}",
            max_price=MoneyInput(
                amount=package.price_for_reseller.amount,
                currency=package.price_for_reseller.currency,
            ),
        ),
    )
    if not isinstance(order, Order):
        sys.exit(f"no order: {order}")
    read = get_order.sync(order.id, client=client, expand=[GetOrderExpandItem.ACTIVATION])
    if not isinstance(read, Order) or read.esim_id is None:
        sys.exit(f"no eSIM: {read}")
    if not isinstance(read.activation, EsimActivation):
        sys.exit(f"no activation code: {read.activation}")
    print(read.status, read.activation.activation_code)


main(sys.argv[1], sys.argv[2])
