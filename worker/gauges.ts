import { and, asc, count, eq, isNull, like, min, notExists, notInArray } from 'drizzle-orm';
import { catalogueReadAt, suspectedIds } from '#db/catalogue/catalogue.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import { firstReconciliationAt, newestReconciliation } from '#db/money/reconciliations.ts';
import { missedWebhooks } from '#db/queues/inbox.ts';
import { LAGGING_QUEUES, relayLag } from '#db/queues/relay-queues.ts';
import { overdueRows, SWEPT_TABLES, type KeptTimes } from '#db/queues/retention.ts';
import { attempts, gateWaits, webhookDeliveries, webhookEndpoints } from '#db/schema.ts';
import { ofWork } from '#db/work/attempts.ts';
import { countOpenCases } from '#db/work/cases.ts';
import { workTable } from '#db/work/rows.ts';
import { CATALOGUES } from '#domain/catalogue/catalogue.ts';
import { circuitNames } from '#domain/gate/circuit.ts';
import { hasDrift } from '#domain/gate/drift.ts';
import { findingKinds } from '#domain/money/books.ts';
import { subtractMoney } from '#domain/money/money.ts';
import type { WebhookSilencePolicy } from '#domain/policy/webhook-policy.ts';
import { PURCHASE_KINDS, WORK_KINDS } from '#domain/work/kinds.ts';
import { FINAL_STATUSES, isFinal, statusesOf } from '#domain/work/lifecycle.ts';
import { lastBalance, reservedIn } from '#fulfilment/gate/account.ts';
import { listCircuits } from '#fulfilment/gate/circuits.ts';
import { driftStopsInForce } from '#fulfilment/gate/drift-stop.ts';
import { heldGroups, parkedPurchases } from '#fulfilment/gate/overview.ts';
import { activePauses, pauseFor } from '#fulfilment/gate/pauses.ts';
import { lastRunway } from '#fulfilment/upkeep/runway.ts';
import type { Metrics } from '#telemetry/metrics.ts';

/** Seconds; 0 without a time. */
type Age = (at: Date | null | undefined) => number;

export function databaseGauges(
  database: Database,
  metrics: Metrics,
  { webhookSilence, now }: { readonly webhookSilence: WebhookSilencePolicy; readonly now: () => number },
): () => Promise<void> {
  const age: Age = (at) => (at == null ? 0 : Math.max(0, now() - at.getTime()) / 1_000);
  return () =>
    database.run(async (db) => {
      await setWorkGauges(db, metrics, age);
      const openCases = await countOpenCases(db);
      metrics.casesOpen.reset();
      for (const row of openCases) metrics.casesOpen.set({ reason: row.reason }, row.count);
      await setGateGauges(db, metrics);
      const lag = await relayLag(db);
      for (const queue of LAGGING_QUEUES) metrics.relayLag.set({ queue }, lag[queue]);
      await setOutboundGauges(db, metrics, age);
      const missed = await missedWebhooks(db, webhookSilence, new Date(now()));
      metrics.webhooksMissed.set(missed < webhookSilence.reports ? 0 : missed);
      await setBooks(db, metrics, age);
      await setCatalogueGauges(db, metrics, age);
    });
}

export function retentionGauge(
  database: Database,
  { rowsOverdue }: Metrics,
  kept: KeptTimes,
  now: () => number,
): () => Promise<void> {
  return async () => {
    const overdue = await database.run((db) => overdueRows(db, kept, now()));
    for (const table of SWEPT_TABLES) rowsOverdue.set({ table }, overdue[table] / 1_000);
  };
}

async function setWorkGauges(db: Executor, metrics: Metrics, age: Age): Promise<void> {
  for (const kind of WORK_KINDS) {
    const table = workTable(kind);
    // Most work has ended. Counting it at every scrape would be expensive.
    const byStatus = await db
      .select({ status: table.status, rows: count(), oldest: min(table.updatedAt) })
      .from(table)
      .where(notInArray(table.status, [...FINAL_STATUSES]))
      .groupBy(table.status);
    for (const status of statusesOf(kind).filter((each) => !isFinal(each))) {
      const found = byStatus.find((row) => row.status === status);
      metrics.work.set({ kind, status }, found?.rows ?? 0);
      metrics.workOldest.set({ kind, status }, age(found?.oldest));
    }
    const { subjectKind, subjectId, barrier } = gateWaits;
    const paused = db
      .select({ id: subjectId })
      .from(gateWaits)
      .where(and(eq(subjectKind, kind), eq(subjectId, table.id), like(barrier, 'pause:%')));
    const [held] = await db
      .select({ since: min(table.createdAt) })
      .from(table)
      .where(and(eq(table.status, 'held'), notExists(paused)));
    metrics.workHeld.set({ kind }, age(held?.since));
    const attempt = db
      .select({ id: attempts.id })
      .from(attempts)
      .where(ofWork({ kind, id: table.id }));
    // By the index of the list of work: in an outage the first row is the answer.
    const [notStarted] = await db
      .select({ since: table.createdAt })
      .from(table)
      .where(and(eq(table.status, 'accepted'), notExists(attempt)))
      .orderBy(asc(table.createdAt), asc(table.id))
      .limit(1);
    metrics.workNotStarted.set({ kind }, age(notStarted?.since));
  }
}

async function setBooks(db: Executor, metrics: Metrics, age: Age): Promise<void> {
  const newest = await newestReconciliation(db);
  for (const kind of findingKinds) metrics.booksFindings.set({ kind }, newest?.findingCounts[kind] ?? 0);
  metrics.walletBalance.reset();
  if (newest?.balance != null && newest.balanceCurrency !== null)
    metrics.walletBalance.set({ currency: newest.balanceCurrency }, Number(newest.balance));
  // `unsupported` counts as successful: without movements of the service there is nothing to compare.
  const compared = await newestReconciliation(db, ['complete', 'unsupported']);
  metrics.booksAge.set(age(compared?.finishedAt ?? (await firstReconciliationAt(db))));
}

async function setGateGauges(db: Executor, metrics: Metrics): Promise<void> {
  const circuits = await listCircuits(db);
  const groups = await heldGroups(db);
  const pauses = await activePauses(db);
  const driftStops = await driftStopsInForce(db);
  const parked = await parkedPurchases(db);
  const last = await lastBalance(db);
  const runway = await lastRunway(db);
  const available =
    last?.isCurrent === true ? subtractMoney(last.balance, await reservedIn(db, last.balance.currency)) : undefined;
  // Nothing is read from here on: while a statement hangs, all gauges keep their values.
  const open = new Set(circuits.filter(({ state }) => state !== 'closed').map(({ name }) => name));
  for (const circuit of circuitNames) metrics.circuitOpen.set({ circuit }, open.has(circuit) ? 1 : 0);
  metrics.gateHeld.reset();
  for (const { barrier, failureClass, count: held } of groups) {
    const [kindOfBarrier = barrier] = barrier.split(':');
    metrics.gateHeld.inc({ failure_class: failureClass, barrier: kindOfBarrier }, held);
  }
  for (const kind of PURCHASE_KINDS) {
    const driftStop = driftStops.find((one) => one.kind === kind);
    // A release by a document alone stops nothing: it lets one purchase go first.
    const isDrift = driftStop !== undefined && hasDrift(driftStop);
    metrics.driftStop.set({ kind }, isDrift ? (driftStop.state === 'stopped' ? 2 : 1) : 0);
    const count = parked.filter((one) => one.kind === kind).reduce((sum, one) => sum + one.count, 0);
    metrics.driftParked.set({ kind }, count);
  }
  metrics.gatePauses.set(pauses.length);
  for (const kind of PURCHASE_KINDS) metrics.gatePaused.set({ kind }, pauseFor(pauses, kind, []) === undefined ? 0 : 1);
  // A wallet that cannot be read is as low as it was.
  metrics.walletLow.set(last?.lowSince == null ? 0 : 1);
  // Remove the gauge when there is no value: an old value would look current.
  metrics.runwaySeconds.remove();
  if (runway?.days != null) metrics.runwaySeconds.set(runway.days * 86_400);
  metrics.runwayLow.set(runway?.lowSince == null ? 0 : 1);
  metrics.walletAvailable.reset();
  if (available !== undefined) metrics.walletAvailable.set({ currency: available.currency }, Number(available.amount));
}

async function setOutboundGauges(db: Executor, metrics: Metrics, age: Age): Promise<void> {
  const { id, disabledReason, failures, failingSince, deletedAt } = webhookEndpoints;
  const pending = db
    .select({ endpointId: webhookDeliveries.endpointId, rows: count().as('rows') })
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.state, 'pending'))
    .groupBy(webhookDeliveries.endpointId)
    .as('pending');
  const found = await db
    .select({ disabledReason, failures, failingSince, waiting: pending.rows })
    .from(webhookEndpoints)
    .leftJoin(pending, eq(pending.endpointId, id))
    .where(isNull(deletedAt));
  const endpoints = { receiving: 0, failing: 0, disabled: 0, given_up: 0 };
  const deliveries = { ...endpoints };
  for (const { disabledReason: reason, failures: failed, waiting } of found) {
    const enabled = failed > 0 ? 'failing' : 'receiving';
    const state = reason === null ? enabled : reason === 'request' ? 'disabled' : 'given_up';
    endpoints[state] += 1;
    deliveries[state] += waiting ?? 0;
  }
  for (const [state, rows] of Object.entries(endpoints)) metrics.outboundEndpoints.set({ state }, rows);
  for (const [state, rows] of Object.entries(deliveries)) metrics.outboundPending.set({ state }, rows);
  const since = found.flatMap((each) =>
    each.disabledReason === null && each.failingSince !== null ? [each.failingSince] : [],
  );
  metrics.outboundFailing.set(age(since.toSorted((left, right) => left.getTime() - right.getTime())[0]));
}

async function setCatalogueGauges(db: Executor, metrics: Metrics, age: Age): Promise<void> {
  for (const catalogue of CATALOGUES) {
    const readAt = await catalogueReadAt(db, catalogue);
    const suspected = await suspectedIds(db, catalogue);
    if (readAt === undefined) metrics.catalogueAge.remove({ catalogue });
    else metrics.catalogueAge.set({ catalogue }, age(readAt));
    metrics.catalogueSuspicious.set({ catalogue }, suspected.size > 0 ? 1 : 0);
  }
}
