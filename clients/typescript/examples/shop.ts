/**
 * A small shop: buys an eSIM, waits for its delivery, shows what the customer needs, recharges it, and shows its usage
 * and the cost. Run it beside `npm start`, from the root of the project, with the number of a sale and a file for the
 * QR code:
 *
 *   npx node clients/typescript/examples/shop.ts sale-1 .data/sale-1.png
 *
 * Elsewhere, set RESELLER_URL and RESELLER_API_KEY: a key with the scopes packages:read, orders:read, orders:write,
 * esims:read, esims:reveal, topups:read, topups:write and wallet:read.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isProblem,
  ResellerClient,
  type Money,
  type MoneyInput,
  type Order,
  type Package,
  type Topup,
  type TopupOption,
} from '../src/index.ts';

const client = new ResellerClient({
  baseUrl: process.env['RESELLER_URL'] ?? 'http://127.0.0.1:3000',
  apiKey: process.env['RESELLER_API_KEY'] ?? readFileSync('.data/dev-api-key', 'utf8').trim(),
});

/**
 * The number of the sale in your shop. Use the same number after a crash, so that nothing is bought twice: the API
 * stores the Idempotency-Key of a purchase for a day, and its reference for ever.
 */
const sale = process.argv[2] ?? `sale-${Date.now()}`;

const packages = await client.listPackages({ available: true }).take(100);
const chosen = packages.find(({ data_mb: size, countries }) => size !== null && countries.length === 1);
if (chosen === undefined) throw new Error('nothing is for sale');
console.log(`Package   ${chosen.id}, ${chosen.name}: ${text(chosen.price_for_reseller)}`);

const order = await client.waitFor(await buy(chosen), { expand: ['activation'] });
console.log(`Order     ${order.id} is ${order.status}, charged ${price(order)}`);
const { activation, esim_id: esimId } = order;
if (esimId === null || activation == null)
  throw new Error(`not delivered: ${order.failure?.advice ?? 'see its timeline'}`);
console.log(`LPA       ${activation.activation_code}`);
console.log(`iPhone    ${activation.install_links.ios}`);
console.log(`Android   ${activation.install_links.android}`);

// Anyone with the code can install the eSIM.
const picture = process.argv[3] ?? join(tmpdir(), `${esimId}.png`);
writeFileSync(picture, await client.getEsimQrPng(esimId), { mode: 0o600 });
console.log(`QR code   ${picture}`);

const { data: options } = await client.listTopupOptions(esimId);
const option = options.find(({ available }) => available);
if (option === undefined) throw new Error('it cannot be recharged');
const topup = await client.waitFor(await recharge(esimId, option));
console.log(`Top-up    ${topup.id} is ${topup.status}, ${option.name}, charged ${price(topup)}`);

const usage = await client.getEsimUsage(esimId);
console.log(`Usage     ${usage.data_used_mb} MB of ${usage.data_total_mb ?? 'unlimited'}`);

const wallet = await client.getWallet();
console.log(`Wallet    ${text(wallet.balance)}`);

/** Buys, or finds the earlier purchase of this sale. */
async function buy(bought: Package): Promise<Order> {
  try {
    return await client.createOrder({ package_id: bought.id, external_order_id: sale, max_price: limitOf(bought) });
  } catch (error) {
    if (!isProblem(error, 'external_order_id_taken') || error.problem.existing === undefined) throw error;
    return client.getOrder(error.problem.existing.id);
  }
}

/** Recharges, or finds the earlier top-up of this sale. */
async function recharge(esimId: string, bought: TopupOption): Promise<Topup> {
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

/** The limit of your pricing rules, or the price just read. Above it, nothing is bought. */
function limitOf({ suggested_price: suggested, price_for_reseller: price }: TopupOption): MoneyInput {
  return suggested?.max_price ?? price;
}

function price(work: Order | Topup): string {
  return work.charged === null ? 'nothing yet' : text(work.charged);
}

function text({ amount, currency }: Money): string {
  return `${amount} ${currency}`;
}
