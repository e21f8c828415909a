/**
 * A shop in miniature: buys an eSIM, waits until it is delivered, shows what the customer needs, recharges it, and says what all
 * of it cost. Run it beside `npm start`, from the root of the project:
 *
 *   npx node clients/typescript/examples/shop.ts
 */
import { readFileSync } from 'node:fs';
import { isProblem, ResellerClient, type Order, type Topup } from '../src/index.ts';

const client = new ResellerClient({
  baseUrl: process.env['RESELLER_URL'] ?? 'http://127.0.0.1:3000',
  apiKey: process.env['RESELLER_API_KEY'] ?? readFileSync('.data/dev-api-key', 'utf8').trim(),
});

/**
 * The number of the sale in your shop. It is the same when this program is started again after a crash, and so nothing is bought twice: an
 * Idempotency-Key is known for a day, a reference for good.
 */
const sale = process.argv[2] ?? `sale-${Date.now()}`;

const packages = await client.listPackages().take(100);
const chosen = packages.find(({ available, data_mb: size, countries }) => available && size !== null && countries.length === 1);
if (chosen === undefined) throw new Error('nothing is for sale');
console.log(`Package   ${chosen.id}, ${chosen.name}: ${chosen.price_for_reseller} ${chosen.currency}`);

const order = await client.waitFor(await buy(chosen.id));
console.log(`Order     ${order.id} is ${order.status}, charged ${price(order)}`);
if (order.esim_id === null) throw new Error(`not delivered: ${order.failure?.advice ?? order.attention?.advice ?? 'see its timeline'}`);

const activation = await client.getEsimActivation(order.esim_id);
console.log(`LPA       ${activation.activation_code}`);
console.log(`iPhone    ${activation.install_links.ios}`);
console.log(`Android   ${activation.install_links.android}`);

const { data: options } = await client.listTopupOptions(order.esim_id);
const option = options.find(({ available }) => available);
if (option === undefined) throw new Error('it cannot be recharged');
const topup = await client.waitFor(await recharge(order.esim_id, option.id));
console.log(`Top-up    ${topup.id} is ${topup.status}, ${option.name}, charged ${price(topup)}`);

const wallet = await client.getWallet();
console.log(`Wallet    ${wallet.balance} ${wallet.currency}`);

/** Buys, or finds what was bought for this sale before. */
async function buy(packageId: number): Promise<Order> {
  try {
    return await client.createOrder({ package_id: packageId, external_order_id: sale }, { idempotencyKey: sale });
  } catch (error) {
    if (!isProblem(error, 'external_order_id_taken')) throw error;
    const existing = error.problem.existing;
    if (existing === undefined) throw error;
    return client.getOrder(existing.id);
  }
}

/** The same for the top-up. */
async function recharge(esimId: string, packageId: number): Promise<Topup> {
  const reference = `${sale}-topup`;
  try {
    return await client.createTopup({ esim_id: esimId, package_id: packageId, external_topup_id: reference }, { idempotencyKey: reference });
  } catch (error) {
    if (!isProblem(error, 'external_topup_id_taken')) throw error;
    const existing = error.problem.existing;
    if (existing === undefined) throw error;
    return client.getTopup(existing.id);
  }
}

function price(work: Order | Topup): string {
  return work.charged === null ? 'nothing yet' : `${work.charged.amount} ${work.charged.currency}`;
}
