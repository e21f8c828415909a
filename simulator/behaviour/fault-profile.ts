import * as z from 'zod';
import { faultRule, type FaultRule, type RequestFault, type WebhookFault } from '#simulator/behaviour/faults.ts';
import { ENVIRONMENTS } from '#simulator/environment.ts';

/** The random fault of each kind. `answer` is missing: only a rule can define the answer. */
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

/** Probability of each kind of fault, for every call and webhook. */
export interface FaultChances {
  readonly request: Readonly<Partial<Record<RequestKind, number | undefined>>>;
  readonly webhook: Readonly<Partial<Record<WebhookKind, number | undefined>>>;
}

/** Named profiles. */
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

/** A named profile with changed probabilities; 0 disables a kind. */
export const faultProfile = z.strictObject({
  name: z.enum(faultProfileNames).default('none'),
  request: z.partialRecord(z.enum(requestKinds), chance).default({}),
  webhook: z.partialRecord(z.enum(webhookKinds), chance).default({}),
  environment: z.enum(ENVIRONMENTS).optional(),
});
export type FaultProfile = z.output<typeof faultProfile>;

/** The fault rules of a profile. Random decisions are derived from the seed, so the same calls meet the same faults. */
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
