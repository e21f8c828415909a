import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIALECTS, dialectNames, type DialectName } from '#simulator/behaviour/dialect.ts';
import { openApiDocument } from '#simulator/service/openapi.ts';
import { Description, documentShape } from '#test/simulator/described.ts';
import { PACKAGE, PLAN, startReceiver, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { HttpClient, type HttpAnswer, type HttpCall } from '#test/support/network/http.ts';
import { EVENT_KINDS } from '#upstream/contract.ts';

/**
 * One step of a reseller or an operator. The calls of the reseller reach all endpoints, with valid and invalid
 * requests.
 */
type Step =
  | {
      readonly kind: 'call';
      readonly method: 'GET' | 'POST';
      readonly path: string;
      readonly body: unknown;
      readonly key: string | undefined;
    }
  | { readonly kind: 'outcome'; readonly operation: string; readonly outcome: string }
  | { readonly kind: 'time'; readonly ms: number };

const ID_KINDS = ['orders', 'esims', 'topups', 'refunds', 'vpn/subscriptions'] as const;
type IdKind = (typeof ID_KINDS)[number];

const PACKAGES = [PACKAGE, PACKAGE, 1002, 1011, 1025, 2001, 9001, 9002, 9003, 9004, 9005, 9006, 1];
const PLANS = [PLAN, 302, 391, 392, 393, 394, 395, 396, 1];
/** `~esims.7` stands for the id of an eSIM in an earlier answer; the number chooses it. */
const known = (kind: IdKind) => fc.nat({ max: 30 }).map((number) => `~${kind}.${number}`);
const anyText = fc.stringMatching(/^[A-Za-z0-9._%-]{1,12}$/).map(encodeURIComponent);
const text = fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.string({ maxLength: 8 }));
const junk = fc.jsonValue({ maxDepth: 2 });
const field = <Value>(good: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 8, arbitrary: good }, { weight: 1, arbitrary: junk });
const body = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.record(fields) },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
    { weight: 1, arbitrary: junk },
  );

const order = body({
  package_id: field(fc.constantFrom(...PACKAGES)),
  external_order_id: field(text),
  device_imei: field(fc.constant('356938035643809')),
});
const topup = body({ esim_id: field(known('esims')), package_id: field(fc.constantFrom(...PACKAGES)) });
const vpnOrder = body({
  vpn_plan_id: field(fc.constantFrom(...PLANS)),
  external_subscription_id: field(text),
  customer_reference: field(text),
  customer_price: field(fc.constantFrom(0, 5.5, 0.1)),
});
const login = body({
  email: field(fc.constantFrom('reseller@example.com', 'x@example.com')),
  password: field(fc.constant('simulator-password')),
  device_name: field(text),
  expires_in_days: field(fc.constant(3)),
});
const simulation = body({ state: field(fc.constantFrom('installed', 'active', 'consumed')) });
const query = fc.constantFrom('', '', '?limit=2', '?limit=0', '?cursor=x', '?color=red');

const post = (path: fc.Arbitrary<string>, content: fc.Arbitrary<unknown> = fc.constant(undefined)) => ({
  method: 'POST' as const,
  path,
  content,
});
const get = (path: fc.Arbitrary<string>) => ({ method: 'GET' as const, path, content: fc.constant(undefined) });
const list = (path: string) => get(query.map((asked) => path + asked));
const below = (kind: IdKind, after = '') => {
  const id = fc.oneof({ weight: 6, arbitrary: known(kind) }, { weight: 1, arbitrary: anyText });
  return id.map((each) => `/${kind}/${each}${after}`);
};
const CALLS = [
  post(fc.constant('/orders'), order),
  post(fc.constant('/orders'), order),
  post(fc.constant('/topups'), topup),
  post(fc.constant('/topups'), topup),
  post(fc.constant('/vpn/orders'), vpnOrder),
  post(fc.constant('/login'), login),
  post(below('esims', '/simulate'), simulation),
  post(
    below('esims', '/cancel'),
    fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: junk }),
  ),
  post(below('vpn/subscriptions', '/cancel')),
  post(fc.constantFrom('/webhook-secret', '/webhook-secret/rotate')),
  list('/packages'),
  list('/public/packages'),
  list('/orders'),
  list('/topups'),
  list('/refunds'),
  list('/vpn/subscriptions'),
  list('/vpn/plans'),
  list('/wallet'),
  list('/wallet/transactions'),
  get(
    fc.constantFrom(
      '/updates/latest?current_version=1.0&channel=stable',
      '/updates/latest?channel=x',
      '/updates/latest?current_version=v&channel=',
    ),
  ),
  get(below('orders')),
  get(below('esims')),
  get(below('esims', '/usage')),
  get(below('esims', '/topup-options')),
  get(below('topups')),
  get(below('refunds')),
  get(below('vpn/subscriptions')),
];
const key = fc.option(fc.nat({ max: 12 }).map(String), { nil: undefined, freq: 12 });
const call = fc.oneof(
  ...CALLS.map(({ method, path, content }) =>
    fc.record({ kind: fc.constant('call' as const), method: fc.constant(method), path, body: content, key }),
  ),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: call },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(1_000, 86_400_000) }) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        ['cancellation', 'refund_failed'],
        ['cancellation', 'manual_review'],
        ['order', 'stay_processing'],
        ['topup', 'stay_processing'],
      )
      .map(([operation = '', outcome = '']) => ({ kind: 'outcome' as const, operation, outcome })),
  },
);

const purchase = (path: string, content: unknown, number: number): Step => {
  return { kind: 'call', method: 'POST', path, body: content, key: `beginning-${number}` };
};
/** One item of each kind, as a start for all later steps. */
const BEGINNING: readonly Step[] = [
  ...[PACKAGE, PACKAGE, 9001, 9003].map((package_id, number) =>
    purchase('/orders', { package_id, external_order_id: `b${number}` }, number),
  ),
  ...[PACKAGE, 9003, 9001].map((package_id, number) =>
    purchase('/topups', { esim_id: '~esims.0', package_id }, 10 + number),
  ),
  purchase(
    '/vpn/orders',
    { vpn_plan_id: PLAN, external_subscription_id: 'b', customer_reference: 'c', customer_price: 1 },
    20,
  ),
  purchase('/esims/~esims.1/cancel', undefined, 30),
];

/** Cached by content, because most dialects have the same document, and compiling its schemas takes long. */
const descriptions = new Map<string, Description>();

function descriptionIn(dialect: DialectName): Description {
  const document = JSON.stringify(openApiDocument(DIALECTS[dialect], 'sandbox'));
  const description = descriptions.get(document) ?? new Description(documentShape.parse(JSON.parse(document)));
  descriptions.set(document, description);
  return description;
}

describe('in every dialect and for all requests, the simulator', () => {
  it('sends only answers and webhooks in its document', async () => {
    const seen = { statuses: new Set<number>(), events: new Set<string>() };
    const holdsFor = async (dialect: DialectName, steps: readonly Step[]) => {
      const description = descriptionIn(dialect);
      await using receiver = await startReceiver();
      await using simulator = await startTestSimulator({
        dialect,
        webhook: { url: receiver.url, secret: 'whsec_test' },
      });
      const reseller = new JudgedClient(simulator, description);
      for (const each of steps) {
        if (each.kind === 'call') seen.statuses.add(await reseller.make(each));
        else if (each.kind === 'time') await simulator.advance(each.ms);
        else await simulator.admin.post('/behaviour', { operation: each.operation, outcome: each.outcome, count: 1 });
      }
      for (const { event, body: content } of receiver.received) {
        expect([event, description.judgeWebhook(event, JSON.parse(content.toString()))]).toEqual([event, 'valid']);
        seen.events.add(event);
      }
    };
    for (const name of dialectNames) {
      const steps = fc.array(step, { minLength: 25, maxLength: 35 }).map((random) => [...BEGINNING, ...random]);
      await fc.assert(fc.asyncProperty(fc.constant(name), steps, holdsFor), { numRuns: 1 });
    }
    // These expectations also hold for a simulator that refuses everything, so successes are counted.
    expect([200, 201, 422].filter((status) => !seen.statuses.has(status))).toEqual([]);
    expect(
      EVENT_KINDS.filter((event) => /^(order|topup|esim|vpn.*active)/.test(event) && !seen.events.has(event)),
    ).toEqual([]);
  });
});

/** Makes calls with ids of earlier answers, and validates each answer by the document. */
class JudgedClient {
  readonly #client: HttpClient;
  /** For the login, which has no token. */
  readonly #open: HttpClient;
  readonly #description: Description;
  readonly #ids = new Map<IdKind, string[]>(ID_KINDS.map((kind) => [kind, []]));

  constructor(simulator: SimulatorClient, description: Description) {
    this.#client = new HttpClient(simulator.sandbox.baseUrl, { authorization: `Bearer ${simulator.tokens.sandbox}` });
    this.#open = new HttpClient(simulator.sandbox.baseUrl);
    this.#description = description;
  }

  /** @returns the status of the answer. */
  async make({ method, path, body: content, key: idempotencyKey }: Extract<Step, { kind: 'call' }>): Promise<number> {
    const filled = this.#withId(path);
    const request: HttpCall = {
      ...(content === undefined ? {} : { body: this.#withIds(content) }),
      ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
    };
    const answer = await (path === '/login' ? this.#open : this.#client).call(method, filled, request);
    const verdict = this.#description.judgeAnswer(method, filled, answer);
    if (verdict !== 'valid')
      throw new Error(
        `${method} ${filled} was answered ${answer.status}, against the document: ${verdict}\n${answer.text}`,
      );
    this.#remember(answer, path);
    return answer.status;
  }

  #remember(answer: HttpAnswer, path: string): void {
    const named = {
      [/^\/(?:vpn\/)?\w+/.exec(path)?.[0].slice(1).replace('vpn/orders', 'vpn/subscriptions') ?? '']: answer.at('id'),
      esims: answer.at('esim_id'),
      refunds: answer.at('refund', 'id'),
    };
    for (const kind of ID_KINDS) {
      const id = named[kind];
      const ids = this.#ids.get(kind);
      if (typeof id === 'string' && !ids?.includes(id)) ids?.push(id);
    }
  }

  /** Replaces placeholders such as `~esims.7` by ids. */
  #withId(text: string): string {
    return text.replace(/~([a-z/]+)\.(\d+)/, (_, kind: IdKind, number: string) => {
      const ids = this.#ids.get(kind) ?? [];
      return ids[Number(number) % Math.max(ids.length, 1)] ?? 'nobody';
    });
  }

  #withIds(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, typeof inner === 'string' ? this.#withId(inner) : inner]),
    );
  }
}
