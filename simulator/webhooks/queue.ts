import * as z from 'zod';
import type { WebhookFault } from '#simulator/behaviour/faults.ts';
import { type DueSource, isoTime } from '#simulator/clock.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { DeliveryRecord, NewDelivery } from '#simulator/store/deliveries.ts';
import type { Environment } from '#simulator/store/store.ts';
import { Dispatcher, type SendResult, signatureOf } from '#simulator/webhooks/dispatcher.ts';
import type { WebhookTarget } from '#simulator/webhooks/endpoints.ts';

export interface WebhookEvent {
  readonly environment: Environment;
  readonly event: string;
  readonly subject: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export const tampering = z.strictObject({
  forged: z.boolean().optional(),
  timestamp_offset_seconds: z.int().optional(),
  header_event: z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/)
    .optional(),
  delivery_id: z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/)
    .optional(),
  twice: z.boolean().optional(),
  every_attempt: z.boolean().optional(),
});
export type Tampering = z.output<typeof tampering>;

const MAX_UNDER_WAY = 32;
const LONGEST_RETRY_DELAY_MS = 3_600_000;

/** Stored together with the change, then sent until accepted or all attempts have failed. */
export class WebhookQueue implements DueSource {
  readonly #simulation: Simulation;
  readonly #dispatcher: Dispatcher;
  readonly #underWay = new Set<Promise<void>>();
  #closed = false;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    this.#dispatcher = new Dispatcher(simulation.options.webhookTimeoutMs, () => simulation.shaper.shape.header_prefix);
    simulation.deliveries.releaseClaims();
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

  /** Without its defects. @returns false while it is being sent. */
  replay(id: string): boolean {
    const accepted = this.#simulation.deliveries.replay(id, this.#simulation.clock.now());
    this.#simulation.agenda.wake();
    return accepted;
  }

  nextDue(now: number): number | undefined {
    // A due delivery that waits for another one starts when that ends.
    return this.#simulation.deliveries.nextDue(now);
  }

  runDue(now: number): void {
    const subjects = new Set<string>();
    for (const delivery of this.#simulation.deliveries.due(now, MAX_UNDER_WAY - this.#underWay.size)) {
      if (delivery.subject !== null && subjects.has(delivery.subject)) continue;
      if (delivery.subject !== null) subjects.add(delivery.subject);
      this.#start(delivery);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#dispatcher.close();
    await Promise.all(this.#underWay);
  }

  #insert(event: WebhookEvent, body: Buffer, plan: Plan): string {
    const { store, deliveries, identifiers, clock, agenda } = this.#simulation;
    const now = clock.now();
    const id = identifiers.id('delivery', store.nextSequence('deliveries'));
    const untargeted = this.#simulation.endpoints.target(event.environment) === undefined;
    const status = plan.lost === true ? 'lost' : untargeted ? 'no_target' : 'pending';
    const delivery: NewDelivery = {
      id,
      environment: event.environment,
      event: event.event,
      subject: event.subject,
      headerEvent: plan.tampering?.header_event ?? event.event,
      body,
      fault: plan.tampering === undefined ? null : JSON.stringify(plan.tampering),
      status,
      held: plan.held === true ? 1 : 0,
      nextAttemptAt: status === 'pending' ? now + (plan.delayMs ?? 0) : null,
      createdAt: now,
    };
    deliveries.insert(delivery);
    agenda.wake();
    return id;
  }

  #bodyOf({ event, data }: WebhookEvent): Buffer {
    const created_at = isoTime(this.#simulation.clock.now());
    const envelope = this.#simulation.dialect.event_in_body ? { event, created_at, data } : { created_at, data };
    return Buffer.from(JSON.stringify(this.#simulation.shaper.event(event, envelope)), 'utf8');
  }

  #start(delivery: DeliveryRecord): void {
    const target = this.#simulation.endpoints.target(delivery.environment);
    if (target === undefined) {
      this.#simulation.deliveries.settle(delivery.id, 'no_target', null);
      return;
    }
    const signedAt = this.#signingTime(delivery);
    this.#simulation.deliveries.claim(delivery.id, signedAt);
    const sending = this.#send(delivery, target, signedAt)
      .catch((error: unknown) => this.#simulation.onError(error))
      .finally(() => {
        this.#underWay.delete(sending);
        this.#simulation.agenda.wake();
      });
    this.#underWay.add(sending);
  }

  async #send(delivery: DeliveryRecord, target: WebhookTarget, signedAt: number): Promise<void> {
    const stored = delivery.fault === null ? {} : tampering.parse(JSON.parse(delivery.fault));
    const how = delivery.attempts === 0 || stored.every_attempt === true ? stored : idOnly(stored);
    const timestamp = String(Math.floor(signedAt / 1_000) + (how.timestamp_offset_seconds ?? 0));
    const secret = how.forged === true ? `not-${target.secret}` : target.secret;
    const webhook = {
      url: target.url,
      deliveryId: how.delivery_id ?? delivery.id,
      event: how.header_event ?? delivery.event,
      timestamp,
      signature: signatureOf(secret, timestamp, delivery.body),
      body: delivery.body,
    };
    const sentAt = this.#simulation.clock.now();
    const copies = Array.from({ length: how.twice === true ? 2 : 1 }, () => this.#dispatcher.send(webhook));
    const results = await Promise.all(copies);
    // It stays marked as being sent, and the next start sends it again.
    if (this.#closed) return;
    this.#simulation.store.transaction(() => this.#record(delivery, sentAt, timestamp, results));
  }

  #record(delivery: DeliveryRecord, sentAt: number, timestamp: string, results: readonly SendResult[]): void {
    const { deliveries, clock } = this.#simulation;
    for (const { status, error, durationMs } of results) {
      deliveries.logAttempt(delivery.id, {
        sentAt,
        timestamp,
        status: status ?? null,
        error: error ?? null,
        durationMs,
      });
    }
    const last = results.at(-1);
    const accepted = results.some(({ status }) => status !== undefined && status >= 200 && status < 300);
    const attempts = delivery.attempts + 1;
    if (accepted) {
      deliveries.settle(delivery.id, 'delivered', null);
      if (delivery.subject !== null) deliveries.releaseHeld(delivery.subject, clock.now());
    } else if (attempts >= this.#simulation.options.webhookAttempts) {
      deliveries.settle(delivery.id, 'exhausted', null);
      const { id, event } = delivery;
      const failed = { delivery: id, event, status: last?.status, error: last?.error };
      this.#simulation.logger.warn(failed, 'all attempts of a webhook delivery failed');
    } else {
      const wait = Math.min(LONGEST_RETRY_DELAY_MS, this.#simulation.options.webhookRetryDelayMs * 2 ** (attempts - 1));
      deliveries.settle(delivery.id, 'pending', clock.now() + wait);
    }
  }

  /** The machine's clock: receivers compare it with their own. */
  #signingTime(delivery: DeliveryRecord): number {
    if (delivery.signedAt !== null && !this.#simulation.dialect.resigns_retries) return delivery.signedAt;
    return this.#simulation.clock.wall();
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

/** A retry keeps the chosen delivery id. */
function idOnly({ delivery_id }: Tampering): Tampering {
  return delivery_id === undefined ? {} : { delivery_id };
}
