/** Runs the product in production against a foreign service, and says how each kind of work ended. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { attempts } from '#db/schema.ts';
import type { ForeignCase, Kind } from '#test/foreign/cases.ts';
import { ACCOUNT } from '#test/foreign/service/books.ts';
import { ForeignService } from '#test/foreign/service/service.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { type Stack, startStack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';

/** Short waits of the product; the rules do not depend on them. */
const POLICY = {
  'purchase.delivery_deadline': '5s',
  'purchase.silent_deadline': '20s',
  // Both are longer than the late debits of the services.
  'purchase.settle_delay': '2s',
  'purchase.unseen_debit_delay': '3s',
  'purchase.evidence_deadline': '10s',
  'purchase.look_up_again': '200ms',
  'purchase.look_up_again_max': '1s',
  'cancellation.refund_deadline': '5s',
  'vpn_subscription.cancel_check': '300ms',
} as const;

const PACKAGE = 701;
const PLAN = 41;

export class ForeignRun implements AsyncDisposable {
  readonly stack: Stack;
  readonly service: ForeignService;
  readonly #placed: { readonly kind: Kind; readonly id: string }[] = [];

  private constructor(stack: Stack, service: ForeignService) {
    this.stack = stack;
    this.service = service;
  }

  static async start({ style, behaviour, adapted }: ForeignCase): Promise<ForeignRun> {
    const service = new ForeignService(style, behaviour);
    const baseUrl = await service.start();
    const stack = await startStack({
      environment: { ...POLICY, SERVICE_MODE: 'production', LOG_LEVEL: 'warn' },
      scripts: { worker: 'test/foreign/product.ts' },
      start: [],
    });
    const run = new ForeignRun(stack, service);
    try {
      service.sendWebhooksTo(`${stack.api.baseUrl}/webhooks/service`, stack.webhookSecret);
      await stack.start('worker', {
        SERVICE_BASE_URL: baseUrl,
        SERVICE_EMAIL: ACCOUNT.email,
        SERVICE_PASSWORD: ACCOUNT.password,
        API_PORT: stack.environments.api['API_PORT'] ?? '',
        FOREIGN_VARIANTS: JSON.stringify(adapted ?? {}),
      });
      await waitFor('the API is ready', async () => (await stack.api.get('/readyz')).status === 200);
      return run;
    } catch (error) {
      await run[Symbol.asyncDispose]();
      throw error;
    }
  }

  async place(kind: Kind, esimId = ''): Promise<string> {
    const path = kind === 'cancellation' ? `/v1/esims/${esimId}/cancel` : PATHS[kind];
    const answer = await postOnce(this.stack.api, path, bodyOf(kind, esimId));
    if (answer.status !== 202) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
    const id = answer.textAt('id');
    this.#placed.push({ kind, id });
    return id;
  }

  async reaches(kind: Kind, id: string, ...statuses: readonly string[]) {
    return await this.stack.workReaches(`${PATHS[kind]}/${id}`, statuses, SETTLED_MS);
  }

  /** Waits until all work has ended or waits for a person or a cause. */
  async settle(): Promise<void> {
    for (const { kind, id } of this.#placed)
      await waitFor(`${id} is settled`, async () => SETTLED.has((await this.#shown(kind, id)).textAt('status')), {
        timeoutMs: SETTLED_MS,
        context: () => this.stack.tails(),
      });
  }

  async #shown(kind: Kind, id: string) {
    return await this.stack.api.get(`${PATHS[kind]}/${id}`);
  }

  /** Why purchases of a kind are held, as the API says. */
  async whyHeld(kind: Kind): Promise<string> {
    const { data } = (await this.stack.api.get('/v1/purchase-gate/pauses')).read(pauses);
    return data.flatMap((pause) => (pause.kind === kind ? [pause.reason] : [])).join('\n');
  }

  /** The reason of the case of work that needs attention. */
  async caseOf(kind: Kind, id: string): Promise<string> {
    const answer = await this.stack.api.get(`${PATHS[kind]}/${id}?expand=operations`);
    return answer.textAt('operations', 'attention', 'reason');
  }

  async openCases(): Promise<readonly string[]> {
    const reasons = z.object({ data: z.array(z.object({ reason: z.string() })) });
    return (await this.stack.api.get('/v1/cases')).read(reasons).data.map(({ reason }) => reason);
  }

  requests(kind: Kind): number {
    return this.service.received.filter((path) => SENDS[kind].test(path)).length;
  }

  /** The ledger of the service by our work, and by the key of requests that no work knows. */
  async bought(): Promise<ReadonlyMap<string, Bought>> {
    const known = await this.stack.database.run((db) =>
      db.select({ key: attempts.idempotencyKey, work: attempts.subjectId }).from(attempts),
    );
    const workOf = new Map(known.map(({ key, work }) => [key, work]));
    const bought = new Map<string, Bought>();
    for (const { type, cents, sale, pending } of this.service.books.rows) {
      if (sale === undefined || sale.key.startsWith('earlier-') || pending === true) continue;
      const work = workOf.get(sale.key) ?? `unknown key ${sale.key}`;
      const { debits, credits, cents: sum } = bought.get(work) ?? { debits: 0, credits: 0, cents: 0 };
      bought.set(
        work,
        type === 'debit'
          ? { debits: debits + 1, credits, cents: sum + cents }
          : { debits, credits: credits + 1, cents: sum - cents },
      );
    }
    return bought;
  }

  /** @returns each violation of the money rules by the work as the API shows it now: no two open debits for one. */
  async violations(): Promise<readonly string[]> {
    const shown = this.#placed.map(async ({ kind, id }) => {
      return { kind, id, status: (await this.#shown(kind, id)).textAt('status') };
    });
    const works = await Promise.all(shown);
    const bought = await this.bought();
    const found: string[] = [];
    for (const [work, { debits, credits }] of bought) {
      const status = works.find(({ id }) => id === work)?.status;
      if (debits - credits > 1) found.push(`${work} was debited ${debits} times and credited ${credits} times`);
      if (status === undefined) found.push(`${work} was bought, and no such work was placed`);
      if (status === 'failed' && debits > credits) found.push(`${work} is failed, and its debit has no credit`);
    }
    for (const { kind, id, status } of works) {
      const isDelivered = kind !== 'cancellation' && (status === 'completed' || status === 'active');
      if (isDelivered && !bought.has(id)) found.push(`${id} is ${status}, and was never debited`);
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.stop();
    await this.stack.killAll();
    await this.stack.stop();
  }
}

/** What the service's own ledger says about one piece of work. `cents`: debits less credits. */
interface Bought {
  readonly debits: number;
  readonly credits: number;
  readonly cents: number;
}

/** A purchase has its end, or its case, within this time; the waits of {@link POLICY} are shorter. */
const SETTLED_MS = 120_000;

/** Work that is neither in progress nor about to be. */
const SETTLED: ReadonlySet<string> = new Set(['completed', 'active', 'failed', 'needs_attention', 'held']);

const pauses = z.object({ data: z.array(z.object({ kind: z.string().nullable(), reason: z.string() })) });

const PATHS: Readonly<Record<Kind, string>> = {
  order: '/v1/orders',
  topup: '/v1/topups',
  vpn_subscription: '/v1/vpn/subscriptions',
  cancellation: '/v1/cancellations',
};

const SENDS: Readonly<Record<Kind, RegExp>> = {
  order: /^\/orders$/,
  topup: /^\/topups$/,
  vpn_subscription: /^\/vpn\/orders$/,
  cancellation: /^\/esims\/[^/]+\/cancel$/,
};

function bodyOf(kind: Kind, esimId: string): object {
  const common = { if_unavailable: 'hold' };
  const bodies: Readonly<Record<Kind, object>> = {
    order: { ...common, package_id: PACKAGE, external_order_id: `shop-${randomUUID()}` },
    topup: { ...common, esim_id: esimId, package_id: PACKAGE },
    vpn_subscription: {
      ...common,
      vpn_plan_id: PLAN,
      external_subscription_id: `vpn-${randomUUID()}`,
      customer_reference: 'C-7',
      customer_price: { amount: '4.90', currency: 'USD' },
    },
    cancellation: {},
  };
  return bodies[kind];
}
