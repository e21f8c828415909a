/**
 * A shop in miniature: buys an eSIM, waits until it is delivered, shows what the customer needs, recharges it, and says
 * what is used of it and what all of it cost. Run it beside `npm start`, from the root of the project, with the number
 * of a sale, and the file that the QR code goes into:
 *
 *   npx node clients/typescript/examples/shop.ts sale-1 .data/sale-1.png
 *
 * Elsewhere it wants RESELLER_URL and RESELLER_API_KEY, a key with the scopes packages:read, orders:read, orders:write,
 * esims:read, esims:reveal, topups:read, topups:write and wallet:read.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProblem, ResellerClient, type MoneyInput, type Order, type Package, type Topup } from '../src/index.ts';

const client = new ResellerClient({
  baseUrl: process.env['RESELLER_URL'] ?? 'http://127.0.0.1:3000',
  apiKey: process.env['RESELLER_API_KEY'] ?? readFileSync('.data/dev-api-key', 'utf8').trim(),
});

/**
 * The number of the sale in your shop. It is the same when this program is started again after a crash, and so nothing
 * is bought twice: an Idempotency-Key, which the client gives each purchase, is known for a day; a reference for good.
 */
const sale = process.argv[2] ?? `sale-${Date.now()}`;

const packages = await client.listPackages({ available: true }).take(100);
const chosen = packages.find(({ data_mb: size, countries }) => size !== null && countries.length === 1);
if (chosen === undefined) throw new Error('nothing is for sale');
console.log(`Package   ${chosen.id}, ${chosen.name}: ${chosen.price_for_reseller} ${chosen.currency}`);

const order = await client.waitFor(await buy(chosen));
console.log(`Order     ${order.id} is ${order.status}, charged ${price(order)}`);
if (order.esim_id === null)
  throw new Error(`not delivered: ${order.failure?.advice ?? order.attention?.advice ?? 'see its timeline'}`);

const activation = await client.getEsimActivation(order.esim_id);
console.log(`LPA       ${activation.activation_code}`);
console.log(`iPhone    ${activation.install_links.ios}`);
console.log(`Android   ${activation.install_links.android}`);

// Whoever has the code can install the eSIM: the file is for nobody else's eyes.
const picture = process.argv[3] ?? join(tmpdir(), `${order.esim_id}.png`);
writeFileSync(picture, await client.getEsimQrPng(order.esim_id), { mode: 0o600 });
console.log(`QR code   ${picture}`);

const { data: options } = await client.listTopupOptions(order.esim_id);
const option = options.find(({ available }) => available);
if (option === undefined) throw new Error('it cannot be recharged');
const topup = await client.waitFor(await recharge(order.esim_id, option));
console.log(`Top-up    ${topup.id} is ${topup.status}, ${option.name}, charged ${price(topup)}`);

const usage = await client.getEsimUsage(order.esim_id);
console.log(`Usage     ${usage.data_used_mb} MB of ${usage.data_total_mb ?? 'unlimited'}`);

const wallet = await client.getWallet();
console.log(`Wallet    ${wallet.balance} ${wallet.currency}`);

/** Buys, or finds what was bought for this sale before. */
async function buy(bought: Package): Promise<Order> {
  try {
    return await client.createOrder({ package_id: bought.id, external_order_id: sale, max_price: limitOf(bought) });
  } catch (error) {
    if (!isProblem(error, 'external_order_id_taken') || error.problem.existing === undefined) throw error;
    return client.getOrder(error.problem.existing.id);
  }
}

/** The same for the top-up. */
async function recharge(esimId: string, bought: Package): Promise<Topup> {
  try {
    return await client.createTopup({
      esim_id: esimId,
      package_id: bought.id,
      external_topup_id: `${sale}-topup`,
      max_price: limitOf(bought),
    });
  } catch (error) {
    if (!isProblem(error, 'external_topup_id_taken') || error.problem.existing === undefined) throw error;
    return client.getTopup(error.problem.existing.id);
  }
}

/**
 * The most that the service may charge: what your pricing rules leave room for, or what was just seen. Above it nothing
 * is bought.
 */
function limitOf({ suggested_price: suggested, price_for_reseller: amount, currency }: Package): MoneyInput {
  return suggested?.max_price ?? { amount, currency };
}

function price(work: Order | Topup): string {
  return work.charged === null ? 'nothing yet' : `${work.charged.amount} ${work.charged.currency}`;
}
