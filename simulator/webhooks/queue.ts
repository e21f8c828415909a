import { createHmac } from 'node:crypto';
import { Agent, type Dispatcher, request } from 'undici';
import * as z from 'zod';
import type { WebhookFault } from '#simulator/behaviour/faults.ts';
import { type DueSource, isoTime } from '#simulator/clock.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Delivery, Tables } from '#simulator/store/rows.ts';
import type { Environment } from '#simulator/store/store.ts';
import { webhookTarget, type WebhookTarget } from '#simulator/webhooks/endpoints.ts';
import { serviceHeaders } from '#upstream/contract.ts';

interface WebhookEvent {
  readonly environment: Environment;
  readonly event: string;
  readonly subject: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

const headerValue = z.string().regex(/^[\x21-\x7e]{1,128}$/);

export const tampering = z.strictObject({
  forged: z.boolean().optional(),
  timestamp_offset_seconds: z.int().optional(),
  header_event: headerValue.optional(),
  delivery_id: headerValue.optional(),
  twice: z.boolean().optional(),
  every_attempt: z.boolean().optional(),
});
type Tampering = z.output<typeof tampering>;

const MAX_UNDER_WAY = 32;
const LONGEST_RETRY_DELAY_MS = 3_600_000;

/** Stored together with the change, then sent until accepted or all attempts have failed. */
export class WebhookQueue implements DueSource {
  readonly #simulation: Simulation;
  readonly #agent = new Agent({ connections: 64, pipelining: 1 });
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<void>>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    // They were being sent when the process ended; now they are due again.
    simulation.store.change('deliveries', { sending: 1 }, { sending: 0 });
  }

  /** It is sent only after the surrounding transaction commits. */
  enqueue(event: WebhookEvent): string {
    const fault = this.#simulation.faults.forWebhook(event.environment, event.event);
    return this.#insert(event, this.#bodyOf(event), plannedBy(fault));
  }

  /** No fault rule applies. @param body undefined for the usual one. */
  enqueueTampered(event: WebhookEvent, body: string | undefined, how: Tampering): string {
    const plan = Object.keys(how).length === 0 ? {} : { tampering: how };
    return this.#insert(event, body === undefined ? this.#bodyOf(event) : Buffer.from(body, 'utf8'), plan);
  }

  /** Without its defects: same id, same body. @returns false while it is being sent. */
  replay({ id, event: header_event }: Delivery): boolean {
    const { store, clock, agenda } = this.#simulation;
    const anew = { status: 'pending', attempts: 0, held: 0, fault: null, header_event, signed_at: null } as const;
    const changed = store.change('deliveries', { id, sending: 0 }, { ...anew, next_attempt_at: clock.now() });
    agenda.wake();
    return changed === 1;
  }

  nextDue(now: number): number | undefined {
    // A due delivery that waits for another one starts when that ends.
    const later = `deliveries WHERE status = 'pending' AND sending = 0 AND next_attempt_at > :now`;
    return this.#simulation.store.least('next_attempt_at', later, { now });
  }

  runDue(now: number): void {
    const subjects = new Set<string>();
    // Leaves out those whose subject has another one under way.
    const due = this.#simulation.store.rows(
      'deliveries',
      `AS due
       WHERE status = 'pending' AND sending = 0 AND next_attempt_at <= :now
         AND NOT EXISTS (SELECT 1 FROM deliveries AS other WHERE other.sending = 1 AND other.subject = due.subject)
       ORDER BY next_attempt_at, sequence LIMIT :limit`,
      { now, limit: MAX_UNDER_WAY - this.#underWay.size },
    );
    for (const delivery of due) {
      if (delivery.subject !== null && subjects.has(delivery.subject)) continue;
      if (delivery.subject !== null) subjects.add(delivery.subject);
      this.#start(delivery);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#agent.destroy();
    await Promise.all(this.#underWay);
  }

  #insert({ environment, event, subject }: WebhookEvent, body: Buffer, plan: Plan): string {
    const { store, identifiers, clock, agenda } = this.#simulation;
    const now = clock.now();
    const id = identifiers.id('delivery', store.nextSequence('deliveries'));
    const untargeted = webhookTarget(this.#simulation, environment) === undefined;
    const status = plan.lost === true ? 'lost' : untargeted ? 'no_target' : 'pending';
    store.insert('deliveries', {
      id,
      environment,
      event,
      subject,
      header_event: plan.tampering?.header_event ?? event,
      body,
      fault: plan.tampering === undefined ? null : JSON.stringify(plan.tampering),
      status,
      held: plan.held === true ? 1 : 0,
      next_attempt_at: status === 'pending' ? now + (plan.delayMs ?? 0) : null,
      created_at: now,
    });
    agenda.wake();
    return id;
  }

  #bodyOf({ event, data }: WebhookEvent): Buffer {
    const created_at = isoTime(this.#simulation.clock.now());
    const envelope = this.#simulation.dialect.event_in_body ? { event, created_at, data } : { created_at, data };
    return Buffer.from(JSON.stringify(this.#simulation.shaper.event(event, envelope)), 'utf8');
  }

  #start(delivery: Delivery): void {
    const { store, agenda, clock, dialect } = this.#simulation;
    const { id } = delivery;
    const target = webhookTarget(this.#simulation, delivery.environment);
    if (target === undefined) {
      store.change('deliveries', { id }, { sending: 0, status: 'no_target', next_attempt_at: null });
      return;
    }
    // The machine's clock: receivers compare it with their own.
    const signedAt = (dialect.resigns_retries ? null : delivery.signed_at) ?? clock.wall();
    store.change('deliveries', { id }, { sending: 1, held: 0, attempts: delivery.attempts + 1, signed_at: signedAt });
    const sending = this.#send(delivery, target, signedAt)
      .catch((error: unknown) => this.#simulation.onError(error))
      .finally(() => {
        this.#underWay.delete(sending);
        agenda.wake();
      });
    this.#underWay.add(sending);
  }

  async #send(delivery: Delivery, target: WebhookTarget, signedAt: number): Promise<void> {
    const stored: Tampering = delivery.fault === null ? {} : tampering.parse(JSON.parse(delivery.fault));
    const isTampered = delivery.attempts === 0 || stored.every_attempt === true;
    // A retry keeps the chosen delivery id.
    const how: Tampering = isTampered ? stored : { delivery_id: stored.delivery_id };
    const timestamp = String(Math.floor(signedAt / 1_000) + (how.timestamp_offset_seconds ?? 0));
    const secret = how.forged === true ? `not-${target.secret}` : target.secret;
    const { clock, options, shaper } = this.#simulation;
    const names = serviceHeaders(shaper.shape.header_prefix);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'service-simulator',
      [names.event]: how.header_event ?? delivery.event,
      [names.delivery]: how.delivery_id ?? delivery.id,
      [names.timestamp]: timestamp,
      [names.signature]: signatureOf(secret, timestamp, delivery.body),
    };
    const sentAt = clock.now();
    const signal = AbortSignal.any([AbortSignal.timeout(options.webhookTimeoutMs), this.#closing.signal]);
    const send = async () => await post(target.url, headers, delivery.body, this.#agent, signal);
    const results = await Promise.all(how.twice === true ? [send(), send()] : [send()]);
    // It stays marked as being sent, and the next start sends it again.
    if (this.#closing.signal.aborted) return;
    this.#simulation.store.transaction(() => this.#record(delivery, sentAt, timestamp, results));
  }

  #record(delivery: Delivery, sent_at: number, timestamp: string, results: readonly Sent[]): void {
    const { store, clock, options, logger } = this.#simulation;
    const { id, event, subject } = delivery;
    const now = clock.now();
    for (const result of results) store.insert('delivery_attempts', { delivery_id: id, sent_at, timestamp, ...result });
    const settle = (status: Delivery['status'], next_attempt_at: number | null) =>
      store.change('deliveries', { id }, { sending: 0, status, next_attempt_at });
    const attempts = delivery.attempts + 1;
    if (results.some(({ status }) => status !== null && status >= 200 && status < 300)) {
      settle('delivered', null);
      if (subject !== null) store.change('deliveries', { held: 1, subject }, { held: 0, next_attempt_at: now });
    } else if (attempts >= options.webhookAttempts) {
      settle('exhausted', null);
      const { status, error } = results.at(-1) ?? {};
      logger.warn({ delivery: id, event, status, error }, 'all attempts of a webhook delivery failed');
    } else {
      settle('pending', now + Math.min(LONGEST_RETRY_DELAY_MS, options.webhookRetryDelayMs * 2 ** (attempts - 1)));
    }
  }
}

interface Plan {
  readonly lost?: boolean;
  readonly held?: boolean;
  readonly delayMs?: number;
  readonly tampering?: Tampering;
}

function plannedBy(fault: WebhookFault | undefined): Plan {
  switch (fault?.kind) {
    case undefined:
      return {};
    case 'lost':
      return { lost: true };
    case 'late':
      return { delayMs: fault.ms };
    case 'out_of_order':
      return { held: true, delayMs: fault.ms };
    case 'twice':
      return { tampering: { twice: true } };
    case 'forged':
      return { tampering: { forged: true, every_attempt: fault.every_attempt } };
    case 'stale_timestamp':
      return { tampering: { timestamp_offset_seconds: -fault.seconds, every_attempt: fault.every_attempt } };
    case 'changed_event_header':
      return { tampering: { header_event: fault.event, every_attempt: fault.every_attempt } };
  }
}

type Sent = Pick<Tables['delivery_attempts'], 'status' | 'error' | 'duration_ms'>;

/** Never throws. Redirects are not followed: a 3xx counts as a failure. */
async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<Sent> {
  const started = performance.now();
  const result = (status: number | null, error: string | null): Sent => {
    return { status, error, duration_ms: Math.round(performance.now() - started) };
  };
  try {
    const response = await request(url, { method: 'POST', dispatcher, signal, headers, body });
    // A small body is read, so that the connection can be used again.
    await response.body.dump({ limit: 16_384 }).catch(() => undefined);
    return result(response.statusCode, null);
  } catch (error) {
    return result(null, reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError') return 'timeout';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Specification, Events, signature rules 1 and 2. Independent of the product's code, so that each checks the other. */
export function signatureOf(secret: string, timestamp: string, body: Uint8Array): string {
  const digest = createHmac('sha256', secret).update(`${timestamp}.`, 'utf8').update(body).digest('hex');
  return `v1=${digest}`;
}
