import type { Executor } from '#db/connection/database.ts';
import { lockEsim, readRefundContext } from '#db/esims/esim-queries.ts';
import { takenServiceIds } from '#db/work/attempts.ts';
import { storePreflight, readCancellation, findRefund } from '#db/work/cancellations.ts';
import type { AttemptRow, CancellationRow, WorkRow } from '#db/work/rows.ts';
import { forecastRefund, judgeRefundConditions, type RefundEvidence } from '#domain/cancellation/refund-conditions.ts';
import { cancellationOutcome, type CancellationReport, type RefundState } from '#domain/cancellation/refund.ts';
import type { CancellationSnapshot } from '#domain/purchase/results.ts';
import type { Report } from '#domain/relay/observation.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { sinceFirstSend, type Found, type LookUpResult } from '#fulfilment/purchase/listing.ts';
import { failureNote, refusal, type Offer } from '#fulfilment/purchase/offer.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import type { OptionalResult } from '#upstream/client/calls.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import type { ServiceRefund } from '#upstream/contract.ts';
import { esimDetails } from '#upstream/mapping/esims.ts';
import { refundReport } from '#upstream/mapping/events.ts';
import { readRefundEvidence } from '#upstream/mapping/refund-evidence.ts';

/** Like a purchase without a price: one key, a lease, a look-up after a lost answer. The result is the refund. */
export async function prepare(_dependencies: WorkDependencies, db: Executor, { id }: WorkRow) {
  const { esim } = await readCancellation(db, id);
  // The specification shows no body for this request.
  return { reference: undefined, serviceEsimId: esim.serviceEsimId, body: Buffer.alloc(0) };
}

export async function examine({ database, service, now }: WorkDependencies, { id }: WorkRow): Promise<Offer> {
  const { cancellation, esim } = await database.run((db) => readCancellation(db, id));
  const own = await database.run((db) => readRefundContext(db, esim));
  const { facts, esim: read, readAt } = await readRefundEvidence(service, own, now);
  const conditions = judgeRefundConditions(facts);
  await database.transaction(async (tx) => {
    await storePreflight(tx, id, conditions);
    if (read !== undefined) await recordEsim(tx, esim, { state: esimDetails(read), readAt }, new Date(now()));
  });
  if (cancellation.onUnmetConditions !== 'refuse') return {};
  const forecast = forecastRefund(conditions);
  if (forecast === 'refund_expected') {
    const recheck = async (tx: Executor) => {
      const { completedTopups } = await readRefundContext(tx, await lockEsim(tx, esim.id));
      return completedTopups === own.completedTopups
        ? undefined
        : refusal('not_sent', 'The eSIM was recharged meanwhile; the refund conditions are checked again.');
    };
    return { recheck };
  }
  const open = conditions.filter(({ result }) => result === (forecast === 'unknown' ? 'unknown' : 'fail'));
  const reason = open.map(({ name, evidence }) => `${name}: ${evidence}`).join(' ');
  if (forecast === 'no_refund_expected') return { objection: refusal('refund_not_expected', reason) };
  return { objection: refusal(mayBeReadLater(facts) ? 'not_sent' : 'refund_uncertain', reason) };
}

function mayBeReadLater({ usage, installation, topups, debit }: RefundEvidence): boolean {
  return [usage, installation, topups, debit].some((evidence) => !evidence.ok && evidence.mayPass);
}

export async function send(
  { service }: WorkDependencies,
  attempt: AttemptRow,
  _row: WorkRow,
  _body: Buffer,
  leaseLeftMs: () => number,
): Promise<ServiceResult<Report>> {
  const { idempotencyKey } = attempt;
  const answer = await service.cancelEsim({ idempotencyKey, esimId: esimOf(attempt), leaseLeftMs });
  return answer.ok ? { ...answer, value: reportOf(answer.value.status, answer.value.refund) } : answer;
}

/** Reads the eSIM and its refund. */
export async function lookUp(dependencies: WorkDependencies, attempt: AttemptRow): Promise<LookUpResult> {
  const esimId = esimOf(attempt);
  // Read the refund first. After a failed refund, an eSIM that is then still not cancelled was not cancelled by it.
  const refund = await refundOf(dependencies, attempt);
  const esim = await dependencies.service.getEsim(esimId);
  if (!esim.ok) return { kind: 'unavailable', failure: failureNote(esim) };
  const isCancelled = esim.value.status === 'cancelled';
  if (!refund.ok && refund.kind === 'failure' && !isCancelled)
    return { kind: 'unavailable', failure: failureNote(refund) };
  const record = refund.ok ? refund.value : undefined;
  if (!isCancelled && record === undefined) return { kind: 'not_found' };
  const open = record?.status === 'failed' ? 'refused' : 'processing';
  return foundAs(esimId, isCancelled ? 'cancelled' : open, record);
}

/** By its id, else the eSIM's newest refund since the first send that belongs to no other attempt. */
async function refundOf(
  { database, service }: WorkDependencies,
  attempt: AttemptRow,
): Promise<OptionalResult<ServiceRefund | undefined>> {
  if (attempt.serviceId !== null) {
    const byId = await service.getRefund(attempt.serviceId);
    if (byId.ok || (byId.kind === 'failure' && byId.status !== 404)) return byId;
  }
  const list = await service.findRefundsOfEsim(esimOf(attempt));
  if (!list.ok) return list;
  const listed = list.value.items.map(({ id }) => id);
  const others = await database.run((db) => takenServiceIds(db, 'cancellation', listed, attempt.id));
  const own = list.value.items.filter((refund) => !others.has(refund.id) && mayBe(attempt, refund));
  // Of several, one that did not fail is taken; the service lists the newest first.
  return { ...list, value: own.find(({ status }) => status !== 'failed') ?? own[0] };
}

/** @throws Error for an attempt without an eSIM, which `prepare` never makes. */
function esimOf({ id, serviceEsimId }: AttemptRow): string {
  if (serviceEsimId === null) throw new Error(`attempt ${id} names no eSIM`);
  return serviceEsimId;
}

/** False for a refund that was made before the attempt was first sent. */
function mayBe(attempt: AttemptRow, { created_at: at }: ServiceRefund): boolean {
  return at == null || Date.parse(at) >= sinceFirstSend(attempt);
}

function reportOf(esim: CancellationReport['esim'], refund: ServiceRefund | null | undefined): Report {
  const cancellation = { esim, ...(refund != null && refundReport(refund)) };
  const unmetConditions = refund?.unmet_conditions ?? [];
  const { serviceRefundId: serviceId } = cancellation;
  return { outcome: cancellationOutcome(cancellation), serviceId, cancellation, unmetConditions };
}

/** With the event that would have reported it. */
function foundAs(esimId: string, esim: CancellationReport['esim'], refund: ServiceRefund | undefined): Found {
  const report = reportOf(esim, refund);
  if (esim === 'cancelled') {
    const record = { esim_id: esimId, status: 'cancelled', refund: refund ?? null };
    return { kind: 'found', report, record, event: 'esim.cancelled' };
  }
  // No event reports that the eSIM is unchanged, except one with a review that refuses.
  const isReported = esim !== 'refused' || refund?.review === 'refused';
  const event = refund === undefined || !isReported ? undefined : EVENTS[refund.status];
  return { kind: 'found', report, record: refund, event };
}

/** No event reports a refund that is being processed. */
const EVENTS = {
  processing: undefined,
  completed: 'refund.completed',
  failed: 'refund.failed',
} as const satisfies Record<RefundState, string | undefined>;

export async function cancellationSnapshot(db: Executor, row: CancellationRow): Promise<CancellationSnapshot> {
  const refund = await findRefund(db, row.id);
  return {
    acceptWithoutRefund: row.onUnmetConditions === 'cancel_without_refund',
    refundFailed: refund?.serviceState === 'failed',
    refundOpen: refund?.serviceState === 'processing',
    refundPaid: refund?.status === 'completed',
    cancelledAt: row.cancelledAt?.getTime(),
  };
}
