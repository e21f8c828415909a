/** A read of the simulator as a service in production, with the answers of the test. */
import { randomUUID } from 'node:crypto';
import type { Sighting } from '#domain/gate/first-purchase-check.ts';
import { ALL_CAPABILITIES, type Capabilities } from '#domain/service/capability-profile.ts';
import { PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import { EMAIL, PACKAGE, PASSWORD, PLAN, startTestSimulator } from '#test/simulator/support.ts';
import { MemoryTokenStore } from '#test/support/memory-token-store.ts';
import type { EndpointName } from '#upstream/contract.ts';
import { lookAtService, type LookOptions } from '#upstream/first-purchase-check.ts';
import { openService } from '#upstream/service.ts';

export type LookedAt = Awaited<ReturnType<typeof startLookedAt>>;

/** A service without purchases, and a client with these capabilities. */
export async function startLookedAt(capabilities: Capabilities = ALL_CAPABILITIES) {
  const simulator = await startTestSimulator({ approved: true, productionBalance: '1000.00' });
  const service = openService({
    baseUrl: simulator.simulator.baseUrl,
    mode: 'production',
    email: EMAIL,
    password: PASSWORD,
    deviceName: 'backend',
    capabilities,
    deadlineMs: 10_000,
    tokens: new MemoryTokenStore(),
    now: Date.now,
  });
  /** Sets the answer of the service to later calls. */
  const answers = async (endpoint: EndpointName, status: number, body: unknown) => {
    const fault = { kind: 'answer', status, body: JSON.stringify(body) };
    await simulator.admin.post('/faults', { target: 'request', endpoint, fault, count: null });
  };
  const buy = async (path: string, body: object) => {
    const bought = await simulator.production.post(path, body, { headers: { 'idempotency-key': randomUUID() } });
    if (bought.status !== 201) throw new Error(bought.text);
    return bought;
  };
  return {
    simulator,
    answers,
    look: async (options: Partial<LookOptions> = {}): Promise<Readonly<Record<PurchaseKind, Sighting>>> => {
      const usual = { kinds: PURCHASE_KINDS, capabilities: ALL_CAPABILITIES, deadlineMs: 10_000 };
      const seen = await lookAtService(service.client, { ...usual, ...options });
      return Object.fromEntries(seen) as Record<PurchaseKind, Sighting>;
    },
    hideDocument: async () => await answers('getOpenApi', 404, { error: { code: 'not_found' } }),
    /** Buys at the service, whose list then shows it. A top-up needs an order. */
    buyOne: async (kind: PurchaseKind) => {
      if (kind === 'vpn_subscription') {
        const customer = { customer_reference: 'c-1', customer_price: 5.5 };
        await buy('/vpn/orders', { vpn_plan_id: PLAN, external_subscription_id: randomUUID(), ...customer });
        return;
      }
      const order = await buy('/orders', { package_id: PACKAGE, external_order_id: randomUUID() });
      if (kind === 'topup') await buy('/topups', { esim_id: order.textAt('esim_id'), package_id: PACKAGE });
    },
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await simulator[Symbol.asyncDispose]();
    },
  };
}
