import { createHash } from 'node:crypto';
import { inboxBodyAad } from '#db/encryption-aads.ts';
import { forgetEvents } from '#db/events/event-queries.ts';
import { forgetDeliveries } from '#db/events/webhook-deliveries.ts';
import { forgetAnswers } from '#db/queues/idempotency.ts';
import { addReadObservation, missedWebhooks, readDeliveryId, requeueMatchable } from '#db/queues/inbox.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { forgetAudit, forgetReports, forgetTimeline } from '#db/queues/retention.ts';
import { workOf, findSilentAttempts, markLookedUp } from '#db/work/attempts.ts';
import { type AttemptRow, lockWork } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import type { ReconcilePolicy, SweepPolicy } from '#domain/policy/upkeep-policy.ts';
import type { OutboundPolicy, WebhookSilencePolicy } from '#domain/policy/webhook-policy.ts';
import type { SweepCursor } from '#domain/relay/sweep-decision.ts';
import { failsEveryCall } from '#domain/work/failure.ts';
import { KINDS, WORK_KINDS } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { recordReport } from '#fulfilment/attempts/report.ts';
import { wakeOverdueEndpoints } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { SERVICE_CALLS } from '#fulfilment/purchase/kinds.ts';
import type { Found } from '#fulfilment/purchase/listing.ts';
import { sweepWork, type SweepTools } from '#fulfilment/upkeep/sweep.ts';
import type { Logger } from '#telemetry/logger.ts';

interface MaintenanceDependencies extends WorkDependencies, Pick<SweepTools, 'findRunning'> {
  readonly reconcile: ReconcilePolicy;
  readonly sweep: SweepPolicy;
  readonly outbound: Pick<OutboundPolicy, 'logKeptMs'>;
  readonly webhookSilence: WebhookSilencePolicy;
  readonly logger: Logger;
}

export function createMaintenanceActivities(dependencies: MaintenanceDependencies) {
  const { database, reconcile, sweep, outbound, now } = dependencies;

  const lookUpInLists = async (silent: readonly AttemptRow[]): Promise<ReadonlyMap<string, Found>> => {
    const found = new Map<string, Found>();
    for (const kind of WORK_KINDS) {
      const ofKind = silent.filter(({ subjectKind }) => subjectKind === kind);
      const { lookUpMany } = SERVICE_CALLS[kind];
      if (lookUpMany === undefined || ofKind.length < reconcile.listFrom) continue;
      // More pages than this would cost more than single reads.
      const maxPages = Math.min(reconcile.listPages, Math.ceil(ofKind.length / 2));
      const listed = await lookUpMany(dependencies, ofKind, maxPages);
      // A long list may fail when single reads succeed; if the service is down, the first single read shows it.
      for (const [id, lookedUp] of listed ?? []) found.set(id, lookedUp);
    }
    return found;
  };

  const storeListed = async (silent: readonly AttemptRow[], found: ReadonlyMap<string, Found>): Promise<number> => {
    await database.run((db) => markLookedUp(db, [...found.keys()], new Date(now())));
    let newReports = 0;
    for (const attempt of silent) {
      const lookedUp = found.get(attempt.id);
      if (lookedUp !== undefined && (await storeReport(dependencies, attempt, lookedUp))) newReports += 1;
    }
    return newReports;
  };

  return {
    /** New reports go into the inbox like webhooks. */
    async reconcileSilentWork(): Promise<{ lookedUp: number; newReports: number }> {
      const silent = await database.run((db) => findSilentAttempts(db, reconcile, new Date(now())));
      const listed = await lookUpInLists(silent);
      let lookedUpCount = listed.size;
      let newReports = await storeListed(silent, listed);
      const single = silent.filter(({ id }) => !listed.has(id)).slice(0, reconcile.readsPerRun);
      for (let start = 0; start < single.length; start += reconcile.readsAtOnce) {
        const some = single.slice(start, start + reconcile.readsAtOnce);
        const found = await Promise.all(
          some.map((attempt) => SERVICE_CALLS[attempt.subjectKind].lookUp(dependencies, attempt)),
        );
        lookedUpCount += some.length;
        const ids = some.map(({ id }) => id);
        // First: an attempt with an unexpected answer must not stay first in the queue and block the others.
        await database.run((db) => markLookedUp(db, ids, new Date(now())));
        for (const [index, attempt] of some.entries()) {
          const lookedUp = found[index];
          if (lookedUp?.kind === 'found' && (await storeReport(dependencies, attempt, lookedUp))) newReports += 1;
        }
        // When the service cannot be reached, the other look-ups would fail, too.
        if (found.some((each) => each.kind === 'unavailable' && failsEveryCall(each.failure.class))) break;
      }
      if (newReports > 0) await warnOfMissedWebhooks(dependencies);
      return { lookedUp: lookedUpCount, newReports };
    },

    /** Starts unfinished work without a running workflow, and wakes what should have continued. */
    async requestIdleWork(input?: { from?: SweepCursor }) {
      const swept = await sweepWork(dependencies, input?.from);
      await database.run((db) => requeueMatchable(db, sweep.batch));
      await database.transaction((tx) => wakeOverdueEndpoints(tx, { before: new Date(now() - sweep.idleAfterMs) }));
      return swept;
    },

    async forgetOldAnswers(): Promise<{ forgotten: number }> {
      const until = now() + sweep.forgettingMs;
      let forgotten = 0;
      for (const [forget, keptMs] of [
        [forgetAnswers, sweep.answersKeptMs],
        [forgetEvents, sweep.eventsKeptMs],
        [forgetDeliveries, outbound.logKeptMs],
        [forgetTimeline, sweep.historyKeptMs],
        [forgetReports, sweep.historyKeptMs],
        [forgetAudit, sweep.historyKeptMs],
      ] as const) {
        const what = { before: new Date(now() - keptMs), batch: sweep.batch };
        for (;;) {
          const count = await database.run((db) => forget(db, what));
          forgotten += count;
          if (count < what.batch || now() >= until) break;
        }
      }
      return { forgotten };
    },
  };
}

async function warnOfMissedWebhooks({ database, webhookSilence, logger, now }: MaintenanceDependencies): Promise<void> {
  const missed = await database.run((db) => missedWebhooks(db, webhookSilence, new Date(now())));
  if (missed < webhookSilence.reports) return;
  logger.warn({ missed, windowMs: webhookSilence.windowMs }, 'webhooks do not arrive: look-ups found the updates');
}

/** Stores a finding in the shape of a webhook event. @returns true when it was new. */
async function storeReport(dependencies: MaintenanceDependencies, attempt: AttemptRow, found: Found): Promise<boolean> {
  const { database, keyRing } = dependencies;
  const { report, record, event } = found;
  const { outcome, serviceId = null } = report;
  // A cancelled eSIM is new information even while its refund is open.
  if (outcome === attempt.state && event !== 'esim.cancelled') return false;
  if (event === undefined) return storeUnreported(dependencies, attempt, found);
  const deliveryId = readDeliveryId(attempt.id, outcome);
  const body = Buffer.from(JSON.stringify({ event, data: record }), 'utf8');
  const contentHash = keyRing.hash(createHash('sha256').update(deliveryId).digest(), 'inbox.read');
  return database.run((db) =>
    addReadObservation(db, {
      deliveryId,
      subjectKind: attempt.subjectKind,
      event,
      outcome,
      reference: attempt.reference,
      serviceId,
      serviceEsimId: KINDS[attempt.subjectKind].reportsName === 'esim' ? attempt.serviceEsimId : null,
      encryptedBody: keyRing.encrypt(body, inboxBodyAad(deliveryId)),
      bodyHash: contentHash,
      signedHash: contentHash,
    }),
  );
}

/** Stores a finding that no event reports, such as a refund in review. @returns true when it was new. */
async function storeUnreported(
  { database, now }: MaintenanceDependencies,
  attempt: AttemptRow,
  { report }: Found,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const work = workOf(attempt);
    const { status } = await lockWork(tx, work);
    if (isFinal(status)) return false;
    const after = await recordReport(tx, attempt.id, report, new Date(now()));
    if (after.state === attempt.state) return false;
    await addTimelineEntry(tx, work, {
      event: 'attempt.found',
      message: `A look-up at the service shows attempt ${attempt.number} as ${after.state}.`,
      detail: { attempt: attempt.number, service_id: after.serviceId },
      dedupKey: `attempt.found:${attempt.number}:${after.state}`,
    });
    await requestWake(tx, work);
    return true;
  });
}
