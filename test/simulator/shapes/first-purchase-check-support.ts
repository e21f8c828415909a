/** A read of the simulator as a service in production, with the answers of the test. */
import { randomUUID } from 'node:crypto';
import type { Sighting } from '#domain/gate/first-purchase-check.ts';
import { ALL_CAPABILITIES, type Capabilities } from '#domain/service/capability-profile.ts';
import { PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import { EMAIL, PACKAGE, PASSWORD, PLAN, startTestSimulator } from '#test/simulator/support.ts';
import { MemoryTokenStore } from '#test/support/memory-token-store.ts';
import type { EndpointName } from '#upstream/contract.ts';
import { lookAtService, type LookOptions } from '#upstream/first-purchase-check.ts';
import { openService, type Service } from '#upstream/service.ts';

/** A service without purchases. */
export class LookedAt implements AsyncDisposable {
  readonly simulator: Awaited<ReturnType<typeof startTestSimulator>>;
  readonly #service: Service;

  private constructor(simulator: LookedAt['simulator'], capabilities: Capabilities) {
    this.simulator = simulator;
    this.#service = openService({
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
  }

  /** @param capabilities of the client, by default all. */
  static async start(capabilities: Capabilities = ALL_CAPABILITIES): Promise<LookedAt> {
    const simulator = await startTestSimulator({ approved: true, productionBalance: '1000.00' });
    return new LookedAt(simulator, capabilities);
  }

  async look(options: Partial<LookOptions> = {}): Promise<Readonly<Record<PurchaseKind, Sighting>>> {
    const seen = await lookAtService(this.#service.client, {
      kinds: PURCHASE_KINDS,
      capabilities: ALL_CAPABILITIES,
      deadlineMs: 10_000,
      ...options,
    });
    return Object.fromEntries(seen) as Record<PurchaseKind, Sighting>;
  }

  /** Sets the answer of the service to later calls. */
  async answers(endpoint: EndpointName, status: number, body: unknown): Promise<void> {
    await this.simulator.admin.post('/faults', {
      target: 'request',
      endpoint,
      fault: { kind: 'answer', status, body: JSON.stringify(body) },
      count: null,
    });
  }

  async hideDocument(): Promise<void> {
    await this.answers('getOpenApi', 404, { error: { code: 'not_found' } });
  }

  /** Buys at the service, whose list then shows it. A top-up needs an order. */
  async buyOne(kind: PurchaseKind): Promise<void> {
    const { production } = this.simulator;
    const buy = async (path: string, body: object) => {
      const bought = await production.post(path, body, { headers: { 'idempotency-key': randomUUID() } });
      if (bought.status !== 201) throw new Error(bought.text);
      return bought;
    };
    const customer = { customer_reference: 'c-1', customer_price: 5.5 };
    if (kind === 'vpn_subscription') {
      await buy('/vpn/orders', { vpn_plan_id: PLAN, external_subscription_id: randomUUID(), ...customer });
      return;
    }
    const order = await buy('/orders', { package_id: PACKAGE, external_order_id: randomUUID() });
    if (kind === 'topup') await buy('/topups', { esim_id: order.textAt('esim_id'), package_id: PACKAGE });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.close();
    await this.simulator[Symbol.asyncDispose]();
  }
}
