import * as z from 'zod';
import { endpointNames } from '#simulator/behaviour/dialect.ts';
import type { Identifiers } from '#simulator/identifiers.ts';
import { type Environment, ENVIRONMENTS, type Store } from '#simulator/store/store.ts';
import type { EndpointName } from '#upstream/contract.ts';

const milliseconds = z.int().nonnegative().max(600_000);
const retryAfter = z.union([z.int().nonnegative(), z.string().regex(/^[\x20-\x7e]{0,128}$/)]);

export const requestFault = z.discriminatedUnion('kind', [
  /** On arrival, between checks and execution of a purchase, or before the answer. */
  z.strictObject({
    kind: z.literal('latency'),
    ms: milliseconds,
    at: z.enum(['arrival', 'work', 'answer']).default('arrival'),
  }),
  /** 429 before any work. A text is sent unchanged. */
  z.strictObject({ kind: z.literal('rate_limited'), retry_after: retryAfter.optional() }),
  z.strictObject({
    kind: z.literal('server_error'),
    status: z.int().min(500).max(599).default(503),
    retry_after: retryAfter.optional(),
    after_work: z.boolean().default(false),
  }),
  z.strictObject({
    kind: z.literal('answer'),
    status: z.int().min(200).max(599),
    body: z.string().default(''),
    headers: z.record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string().regex(/^[\x20-\x7e]*$/)).default({}),
    after_work: z.boolean().default(false),
  }),
  /** After the work, these fields have other values in each record of the answer. Null empties a field. */
  z.strictObject({ kind: z.literal('fields'), set: z.record(z.string(), z.json()) }),
  /** The work is done before. */
  z.strictObject({ kind: z.literal('accepted_but_answer_lost') }),
  /** No work is done. */
  z.strictObject({ kind: z.literal('connection_reset') }),
  z.strictObject({ kind: z.literal('hang'), after_work: z.boolean().default(false) }),
  /** The work is done before. */
  z.strictObject({ kind: z.literal('truncated_body') }),
  /** The work is done before; the answer is not JSON. */
  z.strictObject({ kind: z.literal('garbage_body') }),
]);
export type RequestFault = z.output<typeof requestFault>;

export const webhookFault = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('lost') }),
  z.strictObject({ kind: z.literal('late'), ms: milliseconds }),
  z.strictObject({ kind: z.literal('twice') }),
  /** Until the next event of the same subject was delivered, at most `ms`. */
  z.strictObject({ kind: z.literal('out_of_order'), ms: milliseconds.default(5_000) }),
  /** Signed with another secret. */
  z.strictObject({ kind: z.literal('forged'), every_attempt: z.boolean().default(false) }),
  /** The signature is correct, but this many seconds old. */
  z.strictObject({
    kind: z.literal('stale_timestamp'),
    seconds: z.int().min(1).max(31_536_000).default(600),
    every_attempt: z.boolean().default(false),
  }),
  /** The event header differs from the signed body. */
  z.strictObject({
    kind: z.literal('changed_event_header'),
    event: z.string().regex(/^[\x21-\x7e]{1,128}$/),
    every_attempt: z.boolean().default(false),
  }),
]);
export type WebhookFault = z.output<typeof webhookFault>;

const ruleFields = {
  environment: z.enum(ENVIRONMENTS).optional(),
  nth: z.int().min(1).default(1),
  count: z.int().min(1).nullable().default(1),
  /** The seed decides each hit. */
  probability: z.number().gt(0).max(1).default(1),
};

export const faultRule = z.discriminatedUnion('target', [
  z.strictObject({
    target: z.literal('request'),
    endpoint: z.enum(endpointNames).optional(),
    fault: requestFault,
    ...ruleFields,
  }),
  z.strictObject({
    target: z.literal('webhook'),
    event: z.string().min(1).optional(),
    fault: webhookFault,
    ...ruleFields,
  }),
]);
type FaultRule = z.output<typeof faultRule>;

type StoredFault = FaultRule & {
  readonly id: string;
  readonly profile: boolean;
  readonly hits: number;
  readonly fired: number;
};

/** Oldest first. Rules and counters survive a restart. */
export class Faults {
  readonly #store: Store;
  readonly #identifiers: Identifiers;

  constructor(store: Store, identifiers: Identifiers) {
    this.#store = store;
    this.#identifiers = identifiers;
  }

  add(rule: FaultRule, profile = false): StoredFault {
    const id = this.#identifiers.id('fault', this.#store.nextSequence('fault_rules'));
    const { target } = rule;
    this.#store.insert('fault_rules', { id, rule: JSON.stringify(rule), target, profile: Number(profile) });
    return { ...rule, id, profile, hits: 0, fired: 0 };
  }

  setProfile(rules: readonly FaultRule[]): void {
    this.#store.transaction(() => {
      this.#store.remove('fault_rules', { profile: 1 });
      for (const rule of rules) this.add(rule, true);
    });
  }

  list(): StoredFault[] {
    return this.#store.rows('fault_rules', 'ORDER BY sequence').map(({ id, rule, profile, hits, fired }) => {
      return { ...faultRule.parse(JSON.parse(rule)), id, profile: profile === 1, hits, fired };
    });
  }

  /** Any number of latencies, and at most one other fault. Counts the hits. */
  forRequest(environment: Environment, endpoint: EndpointName): RequestFault[] {
    const chosen: RequestFault[] = [];
    for (const rule of this.list()) {
      if (rule.target !== 'request') continue;
      if (rule.environment !== undefined && rule.environment !== environment) continue;
      if (rule.endpoint !== undefined && rule.endpoint !== endpoint) continue;
      const ended = chosen.some(({ kind }) => kind !== 'latency');
      if (ended && rule.fault.kind !== 'latency') continue;
      if (this.#fires(rule)) chosen.push(rule.fault);
    }
    return chosen;
  }

  /** The first rule that fires. Counts the hits. */
  forWebhook(environment: Environment, event: string): WebhookFault | undefined {
    for (const rule of this.list()) {
      if (rule.target !== 'webhook') continue;
      if (rule.environment !== undefined && rule.environment !== environment) continue;
      if (rule.event !== undefined && rule.event !== event) continue;
      if (this.#fires(rule)) return rule.fault;
    }
    return undefined;
  }

  #fires(rule: StoredFault): boolean {
    const hits = rule.hits + 1;
    const spent = rule.count !== null && rule.fired >= rule.count;
    const fires = !spent && hits >= rule.nth && this.#identifiers.chance(rule.id, hits) < rule.probability;
    this.#store.change('fault_rules', { id: rule.id }, { hits, fired: rule.fired + (fires ? 1 : 0) });
    return fires;
  }
}

/** `answer` is missing: only a rule can define it. */
const REQUEST_FAULTS = {
  latency: { kind: 'latency', ms: 250, at: 'arrival' },
  rate_limited: { kind: 'rate_limited', retry_after: 1 },
  server_error: { kind: 'server_error', status: 503, after_work: false },
  accepted_but_answer_lost: { kind: 'accepted_but_answer_lost' },
  connection_reset: { kind: 'connection_reset' },
  hang: { kind: 'hang', after_work: true },
  truncated_body: { kind: 'truncated_body' },
  garbage_body: { kind: 'garbage_body' },
} as const satisfies Partial<Record<RequestFault['kind'], RequestFault>>;

const WEBHOOK_FAULTS = {
  lost: { kind: 'lost' },
  late: { kind: 'late', ms: 3_000 },
  twice: { kind: 'twice' },
  out_of_order: { kind: 'out_of_order', ms: 5_000 },
  forged: { kind: 'forged', every_attempt: false },
  stale_timestamp: { kind: 'stale_timestamp', seconds: 600, every_attempt: false },
  changed_event_header: { kind: 'changed_event_header', event: 'ping', every_attempt: false },
} as const satisfies Record<WebhookFault['kind'], WebhookFault>;

type RequestKind = keyof typeof REQUEST_FAULTS;
type WebhookKind = keyof typeof WEBHOOK_FAULTS;
const requestKinds = Object.keys(REQUEST_FAULTS) as [RequestKind, ...RequestKind[]];
const webhookKinds = Object.keys(WEBHOOK_FAULTS) as [WebhookKind, ...WebhookKind[]];

const chance = z.number().min(0).max(1);

interface FaultChances {
  readonly request: Readonly<Partial<Record<RequestKind, number | undefined>>>;
  readonly webhook: Readonly<Partial<Record<WebhookKind, number | undefined>>>;
}

export const FAULT_PROFILES = {
  none: { request: {}, webhook: {} },
  flaky: {
    request: {
      latency: 0.1,
      rate_limited: 0.02,
      server_error: 0.03,
      accepted_but_answer_lost: 0.02,
      connection_reset: 0.02,
    },
    webhook: { lost: 0.02, late: 0.1, twice: 0.05, out_of_order: 0.05 },
  },
  stormy: {
    request: {
      latency: 0.2,
      rate_limited: 0.05,
      server_error: 0.1,
      accepted_but_answer_lost: 0.1,
      connection_reset: 0.05,
      hang: 0.01,
      truncated_body: 0.03,
      garbage_body: 0.03,
    },
    webhook: {
      lost: 0.1,
      late: 0.2,
      twice: 0.1,
      out_of_order: 0.1,
      forged: 0.03,
      stale_timestamp: 0.03,
      changed_event_header: 0.03,
    },
  },
} as const satisfies Record<string, FaultChances>;

export type FaultProfileName = keyof typeof FAULT_PROFILES;
export const faultProfileNames = Object.keys(FAULT_PROFILES) as [FaultProfileName, ...FaultProfileName[]];

/** 0 disables a kind. */
export const faultProfile = z.strictObject({
  name: z.enum(faultProfileNames).default('none'),
  request: z.partialRecord(z.enum(requestKinds), chance).default({}),
  webhook: z.partialRecord(z.enum(webhookKinds), chance).default({}),
  environment: z.enum(ENVIRONMENTS).optional(),
});
export type FaultProfile = z.output<typeof faultProfile>;

/** Random decisions are derived from the seed, so the same calls meet the same faults. */
export function rulesOf(profile: FaultProfile): FaultRule[] {
  const named: FaultChances = FAULT_PROFILES[profile.name];
  const { environment } = profile;
  const common = { ...(environment === undefined ? {} : { environment }), nth: 1, count: null };
  const request = { ...named.request, ...profile.request };
  const webhook = { ...named.webhook, ...profile.webhook };
  const rules = [
    ...requestKinds.map((kind) => ({ target: 'request', fault: REQUEST_FAULTS[kind], probability: request[kind] })),
    ...webhookKinds.map((kind) => ({ target: 'webhook', fault: WEBHOOK_FAULTS[kind], probability: webhook[kind] })),
  ];
  const wanted = rules.filter(({ probability }) => probability !== undefined && probability > 0);
  return wanted.map((rule) => faultRule.parse({ ...rule, ...common }));
}
