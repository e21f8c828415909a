"""A small shop: buys an eSIM, waits for it, shows what the customer needs, recharges it, and prints usage and costs.

    RESELLER_URL=http://127.0.0.1:3000 RESELLER_API_KEY=rsk_test_… python shop.py sale-1 sale-1.png

Use the same number of the sale when the program is started again after a crash: then nothing is bought twice.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

from reseller_fulfilment import ProblemError, connect, items, ok
from reseller_fulfilment.rest.api.esims import get_esim_qr_png, get_esim_usage, list_topup_options
from reseller_fulfilment.rest.api.orders import create_order, get_order
from reseller_fulfilment.rest.api.packages import list_packages
from reseller_fulfilment.rest.api.topups import create_topup, get_topup
from reseller_fulfilment.rest.api.wallet import get_wallet
from reseller_fulfilment.rest.models import Money, MoneyInput, Order, OrderInput, Package, Topup, TopupInput, TopupOption

client = connect(
    os.environ.get("RESELLER_URL", "http://127.0.0.1:3000"),
    os.environ.get("RESELLER_API_KEY") or Path(".data/dev-api-key").read_text().strip(),
)
sale = sys.argv[1] if len(sys.argv) > 1 else f"sale-{time.time_ns()}"


def limit_of(package: Package | TopupOption) -> MoneyInput:
    """The maximum that the service may charge: that of your pricing rules, or the price just read."""
    limit = package.suggested_price.max_price if package.suggested_price else package.price_for_reseller
    return MoneyInput(amount=limit.amount, currency=limit.currency)


def buy(package: Package) -> Order:
    """Buys, or finds the earlier purchase of this sale."""
    try:
        return ok(
            create_order.sync(
                client=client,
                prefer="wait=50",
                expand=["activation"],
                body=OrderInput(package_id=package.id, external_order_id=sale, max_price=limit_of(package)),
            )
        )
    except ProblemError as error:
        if error.code != "external_order_id_taken" or not error.problem.existing:
            raise
        return ok(get_order.sync(error.problem.existing.id, client=client, wait=50, expand=["activation"]))


def recharge(esim_id: str, package: TopupOption) -> Topup:
    """Recharges, or finds the earlier top-up of this sale."""
    body = TopupInput(
        esim_id=esim_id,
        package_id=package.id,
        external_topup_id=f"{sale}-topup",
        max_price=limit_of(package),
    )
    try:
        return ok(create_topup.sync(client=client, prefer="wait=50", body=body))
    except ProblemError as error:
        if error.code != "external_topup_id_taken" or not error.problem.existing:
            raise
        return ok(get_topup.sync(error.problem.existing.id, client=client, wait=50))


def text(money: Money | None) -> str:
    return f"{money.amount} {money.currency}" if money else "nothing yet"


chosen = next(each for each in items(list_packages.sync, client=client, available=True) if len(each.countries) == 1)
print(f"Package   {chosen.id}, {chosen.name}: {text(chosen.price_for_reseller)}")

order = buy(chosen)
print(f"Order     {order.id} is {order.status}, charged {text(order.charged)}")
activation = order.activation
if order.esim_id is None or not activation:
    sys.exit("not delivered: see its timeline")
print(f"LPA       {activation.activation_code}")
print(f"iPhone    {activation.install_links.ios}")
print(f"Android   {activation.install_links.android}")

# Anyone with the code can install the eSIM, so only this user may read the file.
picture = Path(sys.argv[2] if len(sys.argv) > 2 else f"{tempfile.gettempdir()}/{order.esim_id}.png")
picture.touch(mode=0o600)
picture.write_bytes(ok(get_esim_qr_png.sync(order.esim_id, client=client)).payload.read())
print(f"QR code   {picture}")

option = next(each for each in ok(list_topup_options.sync(order.esim_id, client=client)).data if each.available)
topup = recharge(order.esim_id, option)
print(f"Top-up    {topup.id} is {topup.status}, {option.name}, charged {text(topup.charged)}")

usage = ok(get_esim_usage.sync(order.esim_id, client=client))
print(f"Usage     {usage.data_used_mb} MB of {usage.data_total_mb or 'unlimited'}")
print(f"Wallet    {text(ok(get_wallet.sync(client=client)).balance)}")
