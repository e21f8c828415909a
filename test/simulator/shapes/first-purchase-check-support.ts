/** A read of the simulator as a service in production, with the answers of the test. */
import { randomUUID } from 'node:crypto';
import type { Sighting } from '#domain/gate/first-purchase-check.ts';
import { ALL_CAPABILITIES, type Capabilities } from '#domain/service/capability-profile.ts';
import { PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import type { SimulatorOptions } from '#simulator/options.ts';
import { EMAIL, PACKAGE, PASSWORD, PLAN, startTestSimulator } from '#test/simulator/support.ts';
import { MemoryTokenStore } from '#test/support/memory-token-store.ts';
import { orderRequestBytes, topupRequestBytes, vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';
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
  static async start(
    capabilities: Capabilities = ALL_CAPABILITIES,
    options: Pick<SimulatorOptions, 'shape'> = {},
  ): Promise<LookedAt> {
    const simulator = await startTestSimulator({ approved: true, productionBalance: '1000.00', ...options });
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

  async buyOne(kind: PurchaseKind): Promise<void> {
    const { client } = this.#service;
    const idempotencyKey = randomUUID();
    const reference = randomUUID();
    const order = await client.createOrder({
      idempotencyKey: randomUUID(),
      reference,
      packageId: PACKAGE,
      body: orderRequestBytes({ packageId: PACKAGE, reference }),
    });
    if (!order.ok) throw new Error(order.detail);
    const esimId = order.value.esim_id ?? '';
    if (kind === 'topup') {
      const options = await client.listTopupOptions(esimId);
      const packageId = options.ok ? (options.value.items[0]?.id ?? 0) : 0;
      const topup = await client.createTopup({
        idempotencyKey,
        esimId,
        packageId,
        body: topupRequestBytes({ esimId, packageId }),
      });
      if (!topup.ok) throw new Error(topup.detail);
      await this.simulator.advance(60_000);
    }
    if (kind === 'vpn_subscription') {
      const customer = { customerReference: 'c-1', customerPrice: '5.50' };
      const body = vpnOrderRequestBytes({ vpnPlanId: PLAN, reference, ...customer });
      const bought = await client.createVpnOrder({ idempotencyKey, reference, vpnPlanId: PLAN, body });
      if (!bought.ok) throw new Error(bought.detail);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.close();
    await this.simulator[Symbol.asyncDispose]();
  }
}
