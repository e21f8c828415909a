import type { KeyRing } from '#crypto/key-ring.ts';
import type { Database } from '#db/connection/database.ts';
import type { EventRow } from '#db/events/event-log.ts';
import { readEndpointSecrets } from '#db/events/webhook-endpoints.ts';
import { isDelivered, isFailing, type TryOutcome } from '#domain/events/webhook-delivery.ts';
import type { OutboundPolicy } from '#domain/policy/webhook-policy.ts';
import {
  claimDelivery,
  type ClaimedDelivery,
  claimTest,
  endpointOutlook,
  type EndpointOutlook,
} from '#fulfilment/event-webhooks/claim-delivery.ts';
import { giveUpDeliveries, queueMissed, REPLAY_PIECE } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { recordTry } from '#fulfilment/event-webhooks/record-try.ts';

export type DeliveryRound =
  | { readonly kind: 'idle' }
  /** Its waiting deliveries were given up. */
  | { readonly kind: 'ended'; readonly reason: 'deleted' | 'disabled' }
  | {
      readonly kind: 'waiting';
      readonly nextAt: number;
      /** Counted up to 10,000. */
      readonly pending: number;
      readonly failing?: {
        readonly since: number;
        readonly failures: number;
        readonly last: string;
        /** True when it gets one delivery at a time until one succeeds. */
        readonly isHeld: boolean;
      };
    };

export interface WebhookActivities {
  /** Deliveries are leased, so a second execution sends none twice. Those of a dead worker are sent again. */
  deliverDue(input: { readonly endpointId: string }): Promise<DeliveryRound>;
}

export interface WebhookDependencies {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly policy: OutboundPolicy;
  /** Does not throw for a failure of the receiver. */
  readonly courier: (request: {
    readonly url: string;
    readonly event: EventRow;
    readonly secrets: readonly string[];
    readonly deadlineMs: number;
  }) => Promise<{ readonly outcome: TryOutcome; readonly excerpt: Buffer }>;
  readonly onTry: (result: 'delivered' | 'failed', durationMs: number) => void;
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

const GIVE_UP_BATCH = 1_000;

export function createWebhookActivities(dependencies: WebhookDependencies): WebhookActivities {
  const { database, policy, now } = dependencies;

  const deliverOne = async (endpointId: string, claim: typeof claimDelivery): Promise<boolean> => {
    const claimed = await database.transaction((tx) =>
      claim(tx, endpointId, { now: new Date(now()), leaseMs: policy.leaseMs }),
    );
    if (claimed === undefined) return false;
    await tryOnce(dependencies, claimed);
    return true;
  };

  /** Several lanes: one slow answer does not block the others. A failing endpoint gets one lane. */
  const sendDue = async (endpointId: string, lanes: number): Promise<void> => {
    const until = now() + policy.roundMs;
    const lane = async (claim: typeof claimDelivery): Promise<void> => {
      while (await deliverOne(endpointId, claim)) if (now() >= until) return;
    };
    // A caller waits for the result of a test, so tests go first.
    await lane(claimTest);
    // Every lane ends before the round does: when one throws, the others must not continue in the background.
    const ended = await Promise.allSettled(Array.from({ length: lanes }, () => lane(claimDelivery)));
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
  };

  return {
    async deliverDue({ endpointId }) {
      let before = await database.run((db) => endpointOutlook(db, endpointId));
      if (before.kind === 'open' && before.hasMissed && before.pending < REPLAY_PIECE) {
        await database.transaction((tx) => queueMissed(tx, endpointId, { limit: REPLAY_PIECE, now: new Date(now()) }));
        before = await database.run((db) => endpointOutlook(db, endpointId));
      }
      if (before.kind === 'open' && before.pending > 0)
        await sendDue(endpointId, isFailing(before.health, policy) ? 1 : policy.lanes);
      const after = await database.run((db) => endpointOutlook(db, endpointId));
      if (after.kind === 'ended') await giveUpAll(dependencies, endpointId);
      return roundOf(after, policy);
    },
  };
}

async function tryOnce(
  { database, keyRing, policy, courier, onTry, now, random }: WebhookDependencies,
  claimed: ClaimedDelivery,
): Promise<void> {
  const at = new Date(now());
  const { endpoint, event } = claimed;
  const secrets = await database.run((db) => readEndpointSecrets(db, keyRing, endpoint.id, at));
  // The endpoint was deleted at this moment.
  if (secrets.length === 0) return;
  const started = performance.now();
  const { outcome, excerpt } = await courier({ url: endpoint.url, event, secrets, deadlineMs: policy.sendDeadlineMs });
  const durationMs = Math.round(performance.now() - started);
  const encryptExcerpt = (aad: string) => (excerpt.length === 0 ? null : keyRing.encrypt(excerpt, aad));
  await database.transaction((tx) =>
    recordTry(
      tx,
      claimed,
      { outcome, at, durationMs, encryptExcerpt },
      { now: new Date(now()), spread: random(), policy },
    ),
  );
  onTry(isDelivered(outcome) ? 'delivered' : 'failed', durationMs);
}

async function giveUpAll({ database, now }: WebhookDependencies, endpointId: string): Promise<void> {
  let ended: number;
  do {
    ended = await database.transaction((tx) => giveUpDeliveries(tx, endpointId, GIVE_UP_BATCH, new Date(now())));
  } while (ended === GIVE_UP_BATCH);
}

function roundOf(outlook: EndpointOutlook, policy: OutboundPolicy): DeliveryRound {
  if (outlook.kind === 'ended') return { kind: 'ended', reason: outlook.reason };
  const { pending, nextAt, health, lastFailure } = outlook;
  if (nextAt === undefined) return { kind: 'idle' };
  const { failures, failingSince } = health;
  return {
    kind: 'waiting',
    nextAt: nextAt.getTime(),
    pending,
    ...(failingSince !== undefined && {
      failing: {
        since: failingSince,
        failures,
        last: lastFailure ?? 'the reason is not known',
        isHeld: isFailing(health, policy),
      },
    }),
  };
}
