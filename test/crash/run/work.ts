/** The work of a seed: its plan, and for each kind the requests of its caller until they are accepted. */
import { randomUUID } from 'node:crypto';
import { KINDS as WORK, type WorkKind } from '#domain/work/kinds.ts';
import type { WorkOutcome } from '#test/crash/plans/settings.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { NeverError, waitFor } from '#test/support/wait-for.ts';
import type { Seeded } from '#test/support/work/workload.ts';

interface Planned {
  readonly nature: WorkOutcome['nature'];
  /** The caller has forgotten its key and sends two requests at once, with other keys. It must get one purchase. */
  readonly forgetful?: true;
}

export type PlannedWork =
  /** `retried`: an operator requests a retry if the order is held. */
  | (Planned & {
      readonly kind: 'order';
      readonly packageId: number;
      readonly deviceImei?: string;
      readonly retried?: boolean;
    })
  /** For the eSIM of the first order. */
  | (Planned & { readonly kind: 'topup'; readonly packageId: number })
  | (Planned & { readonly kind: 'vpn_subscription'; readonly planId: number; readonly cancelled: boolean })
  /** For the eSIM of the second order. `later`: the service decides after a review. */
  | (Planned & { readonly kind: 'cancellation'; readonly later: boolean });

/** Packages of the simulator by the result of a purchase. */
const SOLD_LATER = 9001;
const PLAN_SOLD_LATER = 391;
const SOLD = [1001, 1005, 1012, 2001, SOLD_LATER, SOLD_LATER] as const;
/** It fails at once, and its debit is never credited; see `armService` in `prepare.ts`. Another attempt would cost twice. */
export const NEVER_CREDITED = 1030;
const FAILS = [9002, 9003, NEVER_CREDITED] as const;
/** The first purchase of this package fails; see `armService` in `prepare.ts`. */
export const FAILS_ONCE = 1029;

interface WorkOptions {
  /** If false, the seed decides. */
  readonly vpnIsCancelled: boolean;
  /** The service completes purchases and cancellations later, and reports them by events. */
  readonly soldLater: boolean;
  /** If false, the seed decides. */
  readonly retried: boolean;
}

export function plannedWork(seeded: Seeded, { vpnIsCancelled, soldLater, retried }: WorkOptions): PlannedWork[] {
  const sold = (): PlannedWork => ({
    kind: 'order',
    nature: 'sold',
    packageId: soldLater ? SOLD_LATER : seeded.pick(SOLD),
    ...(seeded.next() < 0.3 && { deviceImei: String(seeded.between(10 ** 14, 10 ** 15 - 1)) }),
  });
  return [
    // A package for Spain. The top-ups below are for Spain, too.
    { kind: 'order', nature: 'sold', packageId: 1001 },
    sold(),
    { ...sold(), forgetful: true },
    { kind: 'order', nature: 'fails_once', packageId: FAILS_ONCE, retried: seeded.next() < 0.5 || retried },
    { kind: 'order', nature: 'fails', packageId: seeded.pick(FAILS) },
    { kind: 'topup', nature: 'sold', packageId: soldLater ? SOLD_LATER : seeded.pick([1002, SOLD_LATER]) },
    {
      kind: 'vpn_subscription',
      nature: 'sold',
      planId: soldLater ? PLAN_SOLD_LATER : seeded.pick([301, PLAN_SOLD_LATER]),
      cancelled: seeded.next() < 0.5 || vpnIsCancelled,
    },
    sold(),
    { kind: 'cancellation', nature: 'sold', later: soldLater },
  ];
}

/** A purchase of a caller and its work. Exactly one piece of work is correct. */
export interface Thing {
  readonly planned: PlannedWork;
  readonly reference: string;
  /** Empty if the eSIM of the request was not found. Ids of lost work are replaced when the request is repeated. */
  readonly ids: ReadonlySet<string>;
  /** Repeats it with the same keys. @returns the ids of its work; empty if its eSIM was not delivered again. */
  readonly repeat: () => Promise<ReadonlySet<string>>;
}

export const REQUEST_TIMEOUT_MS = 180_000;
const PATIENCE = { timeoutMs: REQUEST_TIMEOUT_MS, everyMs: 200 } as const;

interface Kind<Work extends PlannedWork> {
  /** @returns path and body of the request; undefined if the eSIM that it needs was not delivered. */
  request(
    stack: Stack,
    planned: Work,
    reference: string,
    before: readonly Promise<Thing | undefined>[],
  ): Promise<{ path: string; body: object } | undefined>;
  /** Further requests of the caller after acceptance. */
  afterwards?(stack: Stack, planned: Work, id: string): Promise<void>;
}

const KINDS: { readonly [K in WorkKind]: Kind<Extract<PlannedWork, { kind: K }>> } = {
  order: {
    request: async (_stack, { packageId, deviceImei }, reference) => ({
      path: '/v1/orders',
      body: {
        package_id: packageId,
        external_order_id: reference,
        ...(deviceImei !== undefined && { device_imei: deviceImei }),
      },
    }),
    afterwards: async (stack, { retried = false }, id) => {
      if (!retried) return;
      const path = `/v1/orders/${id}`;
      const status = await statusAmong(stack, path, ['held', 'needs_attention', 'completed', 'failed']);
      // 409 if the order has continued meanwhile.
      if (status === 'held')
        await insist(stack, `${path}/retry`, { reason: 'The customer waits.' }, [200, 409], { refusable: true });
    },
  },
  topup: {
    request: async (stack, { packageId }, reference, [first]) => {
      const esimId = await esimOf(stack, first);
      if (esimId === undefined) return undefined;
      return { path: '/v1/topups', body: { esim_id: esimId, package_id: packageId, external_topup_id: reference } };
    },
  },
  cancellation: {
    request: async (stack, _planned, _reference, [, second]) => {
      const esimId = await esimOf(stack, second);
      return esimId === undefined ? undefined : { path: `/v1/esims/${esimId}/cancel`, body: {} };
    },
  },
  vpn_subscription: {
    request: async (_stack, { planId }, reference) => ({
      path: '/v1/vpn/subscriptions',
      body: {
        vpn_plan_id: planId,
        external_subscription_id: reference,
        customer_reference: 'C-2207',
        customer_price: { amount: '29.99', currency: 'USD' },
      },
    }),
    afterwards: async (stack, { cancelled }, id) => {
      if (!cancelled) return;
      const path = `/v1/vpn/subscriptions/${id}`;
      const active = await statusAmong(stack, path, ['active', 'needs_attention', 'failed']);
      if (active === 'active') await insist(stack, `${path}/cancel`, { reason: 'The customer ended it.' }, [200, 202]);
    },
  },
};

/** Repeats the request for a piece of work until it is accepted. @returns undefined if its eSIM is missing. */
export async function requestWork(
  stack: Stack,
  planned: PlannedWork,
  before: readonly Promise<Thing | undefined>[],
): Promise<Thing | undefined> {
  const kind: Kind<PlannedWork> = KINDS[planned.kind];
  const reference = `${planned.kind}-${randomUUID()}`;
  const asked = await kind.request(stack, planned, reference, before);
  if (asked === undefined) return undefined;
  const keys = Array.from({ length: planned.forgetful === true ? 2 : 1 }, () => randomUUID());
  const ask = async ({ path, body }: typeof asked) => {
    const answers = await Promise.all(keys.map((key) => insist(stack, path, body, [202, 409], { key })));
    return new Set(
      answers.map((answer) => (answer.status === 202 ? answer.textAt('id') : answer.textAt('existing', 'id'))),
    );
  };
  const repeat = async () => {
    // The eSIM in the request may have been lost. Wait until it is delivered again.
    const request = await kind.request(stack, planned, reference, before);
    return request === undefined ? new Set<string>() : ask(request);
  };
  const ids = await ask(asked).catch(noneIfEsimIsLost);
  const thing = { planned, reference, repeat, ids };
  for (const id of thing.ids) await kind.afterwards?.(stack, planned, id);
  return thing;
}

/** PostgreSQL may lose an eSIM after the caller has read its id and before the request with this id. */
function noneIfEsimIsLost(error: unknown): Set<string> {
  if (error instanceof Error && /is not the id of an existing eSIM|esim_not_found/.test(error.message))
    return new Set();
  throw error;
}

/** Repeats the request if PostgreSQL has lost its work. The documents give callers the same instruction. */
export async function requestIfLost(stack: Stack, thing: Thing): Promise<Thing> {
  const { path } = WORK[thing.planned.kind];
  const found = await Promise.all([...thing.ids].map((id) => isThere(stack, `${path}/${id}`)));
  return found.length > 0 && found.every(Boolean) ? thing : { ...thing, ids: await thing.repeat() };
}

async function isThere(stack: Stack, path: string): Promise<boolean> {
  const { status } = await waitFor(
    `${path} is there, or is not`,
    async () => {
      const answer = await stack.api.get(path);
      if (answer.status !== 200 && answer.status !== 404) throw new Error(`${answer.status}: ${answer.text}`);
      return answer;
    },
    PATIENCE,
  );
  return status === 200;
}

/**
 * Repeats a request with the same Idempotency-Key until it is answered with one of the statuses.
 *
 * @param how.refusable accepts every 409. Otherwise only a 409 with the existing resource counts.
 */
async function insist(
  stack: Stack,
  path: string,
  body: object,
  statuses: readonly number[],
  { refusable = false, key = randomUUID() }: { readonly refusable?: boolean; readonly key?: string } = {},
): Promise<HttpAnswer> {
  const headers = { 'idempotency-key': key };
  return waitFor(
    `POST ${path} is answered ${statuses.join(' or ')}`,
    async () => {
      const answer = await stack.api.post(path, body, { headers });
      const counts = answer.status !== 409 || refusable || answer.at('existing') !== undefined;
      if (counts && statuses.includes(answer.status)) return answer;
      const passing = answer.status >= 500 || answer.status === 409 || answer.status === 429;
      throw new (passing ? Error : NeverError)(`${answer.status}: ${answer.text}`);
    },
    PATIENCE,
  );
}

/** Our id of the eSIM of an order of this seed; undefined if it was not delivered. */
async function esimOf(stack: Stack, order: Promise<Thing | undefined> | undefined): Promise<string | undefined> {
  const [orderId] = (await order)?.ids ?? [];
  if (orderId === undefined) return undefined;
  const path = `/v1/orders/${orderId}`;
  const status = await statusAmong(stack, path, ['completed', 'needs_attention', 'failed']);
  if (status !== 'completed') return undefined;
  return waitFor('the order is read', () => stack.api.get(path).then((answer) => answer.textAt('esim_id')));
}

/** @returns undefined if the work reaches none of the statuses in time. The audit reports work that hangs. */
async function statusAmong(stack: Stack, path: string, statuses: readonly string[]): Promise<string | undefined> {
  const reached = async () => {
    const answer = await stack.api.get(path);
    if (answer.status === 404) throw new NeverError('it is gone: PostgreSQL has lost it');
    const status = answer.textAt('status');
    return statuses.includes(status) && status;
  };
  return waitFor(`${path} is ${statuses.join(' or ')}`, reached, PATIENCE).catch(() => undefined);
}
