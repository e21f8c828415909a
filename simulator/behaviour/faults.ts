import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Identifiers } from '#simulator/identifiers.ts';
import { endpointNames } from '#simulator/service/served.ts';
import type { Store } from '#simulator/store/store.ts';
import type { EndpointName } from '#upstream/contract.ts';

const milliseconds = z.int().nonnegative().max(600_000);
const retryAfter = z.union([z.int().nonnegative(), z.string().regex(/^[\x20-\x7e]{0,128}$/)]);
const serverErrorStatus = z.int().min(500).max(599);

/** Faults of a call of the service. */
export const requestFault = z.discriminatedUnion('kind', [
  /** A delay: on arrival, between the checks and the execution of a purchase, or before the answer. */
  z.strictObject({
    kind: z.literal('latency'),
    ms: milliseconds,
    at: z.enum(['arrival', 'work', 'answer']).default('arrival'),
  }),
  /** 429 before any work. A number is sent as seconds, a text is sent unchanged. */
  z.strictObject({ kind: z.literal('rate_limited'), retry_after: retryAfter.optional() }),
  z.strictObject({
    kind: z.literal('server_error'),
    status: serverErrorStatus.default(503),
    retry_after: retryAfter.optional(),
    after_work: z.boolean().default(false),
  }),
  /** A freely defined answer in place of the real one. */
  z.strictObject({
    kind: z.literal('answer'),
    status: z.int().min(200).max(599),
    body: z.string().default(''),
    headers: z.record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string().regex(/^[\x20-\x7e]*$/)).default({}),
    after_work: z.boolean().default(false),
  }),
  /**
   * The work is done; in the record of the answer, or in each record of its list, these fields have other values.
   * A null leaves a field empty.
   */
  z.strictObject({ kind: z.literal('fields'), set: z.record(z.string(), z.json()) }),
  /** The work is done, then the connection closes without an answer. */
  z.strictObject({ kind: z.literal('accepted_but_answer_lost') }),
  /** The connection is reset before any work. */
  z.strictObject({ kind: z.literal('connection_reset') }),
  /** No answer until the caller gives up. */
  z.strictObject({ kind: z.literal('hang'), after_work: z.boolean().default(false) }),
  /** The work is done; only half of the answer's body is sent. */
  z.strictObject({ kind: z.literal('truncated_body') }),
  /** The work is done; the answer is not JSON. */
  z.strictObject({ kind: z.literal('garbage_body') }),
]);
export type RequestFault = z.output<typeof requestFault>;

/** Faults of a webhook delivery. */
export const webhookFault = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('lost') }),
  z.strictObject({ kind: z.literal('late'), ms: milliseconds }),
  /** Two identical requests at the same time. */
  z.strictObject({ kind: z.literal('twice') }),
  /** Held back until the next event of the same subject was delivered, at most `ms`. */
  z.strictObject({ kind: z.literal('out_of_order'), ms: milliseconds.default(5_000) }),
  /** Signed with another secret. */
  z.strictObject({ kind: z.literal('forged'), every_attempt: z.boolean().default(false) }),
  /** Signed correctly, but with a timestamp this many seconds in the past. */
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
  /** The first matching hit that fires, counted from 1. */
  nth: z.int().min(1).default(1),
  /** How many times it fires from then on; null for ever. */
  count: z.int().min(1).nullable().default(1),
  /** Probability of each hit, derived from the seed. */
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
export type FaultRule = z.output<typeof faultRule>;

/** A rule with its counts of matches and of fired faults. */
export type StoredFault = FaultRule & {
  readonly id: string;
  /** True for a rule of the fault profile. */
  readonly profile: boolean;
  readonly hits: number;
  readonly fired: number;
};

const row = z.object({ id: z.string(), rule: z.string(), profile: z.number(), hits: z.number(), fired: z.number() });

/** The fault rules of the admin API, oldest first. Rules and counters survive a restart. */
export class Faults {
  readonly #store: Store;
  readonly #identifiers: Identifiers;
  readonly #all;
  readonly #byTarget;
  readonly #insert;
  readonly #count;
  readonly #remove;
  readonly #clear;
  readonly #clearProfile;

  constructor(store: Store, identifiers: Identifiers) {
    this.#store = store;
    this.#identifiers = identifiers;
    this.#all = store.query(row, 'SELECT id, rule, profile, hits, fired FROM fault_rules ORDER BY sequence');
    this.#byTarget = store.query(
      row,
      'SELECT id, rule, profile, hits, fired FROM fault_rules WHERE target = :target ORDER BY sequence',
    );
    this.#insert = store.command(
      'INSERT INTO fault_rules (id, target, rule, profile) VALUES (:id, :target, :rule, :profile)',
    );
    this.#count = store.command('UPDATE fault_rules SET hits = :hits, fired = :fired WHERE id = :id');
    this.#remove = store.command('DELETE FROM fault_rules WHERE id = :id');
    this.#clear = store.command('DELETE FROM fault_rules');
    this.#clearProfile = store.command('DELETE FROM fault_rules WHERE profile = 1');
  }

  add(rule: FaultRule, profile = false): StoredFault {
    const id = this.#identifiers.id('fault', this.#store.nextSequence('fault_rules'));
    this.#insert.run({ id, target: rule.target, rule: JSON.stringify(rule), profile: Number(profile) });
    return { ...rule, id, profile, hits: 0, fired: 0 };
  }

  /** Replaces the rules of the fault profile. Rules that were added one by one stay. */
  setProfile(rules: readonly FaultRule[]): void {
    this.#store.transaction(() => {
      this.#clearProfile.run({});
      for (const rule of rules) this.add(rule, true);
    });
  }

  list(): StoredFault[] {
    return this.#all.all().map(stored);
  }

  /** @returns false when no rule has this id. */
  remove(id: string): boolean {
    return this.#remove.run({ id }) > 0;
  }

  clear(): void {
    this.#clear.run({});
  }

  /** Chooses the faults of one call: any number of latencies, and at most one other fault. Counts the hits. */
  forRequest(environment: Environment, endpoint: EndpointName): RequestFault[] {
    const chosen: RequestFault[] = [];
    for (const rule of this.#byTarget.all({ target: 'request' }).map(stored)) {
      if (rule.target !== 'request') continue;
      if (rule.environment !== undefined && rule.environment !== environment) continue;
      if (rule.endpoint !== undefined && rule.endpoint !== endpoint) continue;
      const ended = chosen.some(({ kind }) => kind !== 'latency');
      if (ended && rule.fault.kind !== 'latency') continue;
      if (this.#fires(rule)) chosen.push(rule.fault);
    }
    return chosen;
  }

  /** Chooses the fault of one delivery: the first rule that fires. Counts the hits. */
  forWebhook(environment: Environment, event: string): WebhookFault | undefined {
    for (const rule of this.#byTarget.all({ target: 'webhook' }).map(stored)) {
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
    this.#count.run({ id: rule.id, hits, fired: rule.fired + (fires ? 1 : 0) });
    return fires;
  }
}

function stored(found: z.output<typeof row>): StoredFault {
  const { id, profile, hits, fired } = found;
  return { ...faultRule.parse(JSON.parse(found.rule)), id, profile: profile === 1, hits, fired };
}
