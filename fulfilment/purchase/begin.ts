import { eq } from 'drizzle-orm';
import { attemptKey } from '#crypto/derived-ids.ts';
import { DatabaseUnavailableError, type Executor, sendTogether } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { placesOf, prepared } from '#db/connection/prepared-statements.ts';
import { requestBodyAad } from '#db/encryption-aads.ts';
import { inboxKey, requeueUnmatched, type InboxRow } from '#db/queues/inbox.ts';
import { attempts } from '#db/schema.ts';
import { areSettled, findAttempt, readProgress, snapshotOf } from '#db/work/attempts.ts';
import {
  lockUnfinishedWithEpoch,
  RowMissingError,
  WorkFinishedError,
  workTable,
  type AttemptRow,
  type WorkRow,
} from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { moneyOf, plainText } from '#domain/money/money.ts';
import type { OpenResult, PurchaseActivities, SendResult, WorkSnapshot } from '#domain/purchase/results.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import { givesUpAt, retryRule, ruleOfWork } from '#domain/retry/retry-rules.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { startOfRun } from '#domain/work/lifecycle.ts';
import { recover } from '#fulfilment/attempts/recover.ts';
import { readSendConditions } from '#fulfilment/gate/admission.ts';
import { cancellationSnapshot } from '#fulfilment/purchase/cancellation.ts';
import { claimLocked, startLease, StoppedByAccount } from '#fulfilment/purchase/claim.ts';
import type { PurchaseDependencies, WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { SERVICE_CALLS } from '#fulfilment/purchase/kinds.ts';
import { examine, sendClaimed } from '#fulfilment/purchase/send.ts';
import { subscriptionSnapshot } from '#fulfilment/purchase/vpn-subscription.ts';
import { buyingBlock } from '#fulfilment/work/buying-block.ts';
import { changeWork } from '#fulfilment/work/change.ts';

type BeginInput = Parameters<PurchaseActivities['beginWork']>[0];

/**
 * The first read, claim and send of a run that acceptance has started (ADR 0020). One activity: between two of them
 * Temporal may store the result of the first, and a run that is replayed after a death would send without a read.
 */
export async function beginWork(
  dependencies: PurchaseDependencies,
  input: BeginInput,
): Promise<WorkSnapshot & { readonly sent?: SendResult }> {
  const { firstSend, run: _run, ...reread } = input;
  if (firstSend === undefined) return readForRun(dependencies, input);
  const began = startLease(dependencies);
  const begun = await unlessError(dependencies, input.work, () => claimFirst(dependencies, input, firstSend));
  if (begun === undefined) return readForRun(dependencies, input);
  const { snapshot, request, claimed } = begun;
  // Its step reads the wallet anew.
  if (claimed === undefined || claimed.kind === 'gated') return snapshot;
  const sent = await unlessError(dependencies, input.work, () =>
    sendClaimed(dependencies, request, claimed, began, () => undefined),
  );
  return sent === undefined ? readForRun(dependencies, reread) : { ...snapshot, sent };
}

/**
 * @returns undefined after an error that may not repeat the activity, which would hide it: the step that follows has a
 * case for it. @throws what a read of the work would meet, too.
 */
async function unlessError<Result>(
  { onFirstSendError }: PurchaseDependencies,
  work: WorkRef,
  run: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof WorkFinishedError || error instanceof RowMissingError) throw error;
    if (error instanceof DatabaseUnavailableError) throw error;
    if (!(error instanceof StoppedByAccount)) onFirstSendError?.(work, error);
    return undefined;
  }
}

/**
 * Reads the work, and claims its first send in the same transaction. @returns undefined where its step must judge:
 * then nothing is read. Without `claimed` when the work may not be sent by this read.
 */
async function claimFirst(
  dependencies: PurchaseDependencies,
  input: BeginInput,
  firstSend: NonNullable<BeginInput['firstSend']>,
) {
  const { database, now } = dependencies;
  const { work } = input;
  const conditions = await database.run((db) => readSendConditions(db, work));
  if (!conditions.isGateClear || conditions.row.status !== 'accepted') return undefined;
  const examined = await examine(dependencies, work, conditions);
  const lease = startLease(dependencies);
  return database.transaction(async (tx) => {
    const { snapshot, row, attempt } = await readLocked(tx, dependencies, input);
    const request = { work, ...firstSend, attemptId: attempt.id };
    if (!mayBeSentFirst(snapshot, input, now())) return { snapshot, request };
    const locked = { ...examined, lease, reservesLast: true, row, preparedAttempt: attempt };
    return { snapshot, request, claimed: await claimLocked(tx, dependencies, request, locked) };
  });
}

/** The first attempt was never sent, PostgreSQL is in the epoch of the start, and the run may still buy. */
function mayBeSentFirst(snapshot: WorkSnapshot, { sentIn, firstSend }: BeginInput, now: number): boolean {
  const { status, attempt, attention, epoch, observations, retryOverrides = {} } = snapshot;
  const { number, state, history } = attempt;
  const rule = firstSend?.retryRule;
  if (rule !== undefined && now >= givesUpAt(snapshot, rule, retryOverrides)) return false;
  // Another status is the step of a run.
  const isUnsent = status === 'accepted' && number === 1 && state === 'prepared' && history.sends === 0;
  return isUnsent && attention === undefined && observations.length === 0 && epoch === sentIn;
}

/** Every read of the work by its workflow: at the beginning of a run, and after each wait that something else ended. */
function readForRun(dependencies: WorkDependencies, input: BeginInput): Promise<WorkSnapshot> {
  return dependencies.database.transaction(async (tx) => (await readLocked(tx, dependencies, input)).snapshot);
}

async function readLocked(
  tx: Executor,
  dependencies: WorkDependencies,
  { work, witness, sentIn, run }: BeginInput,
): Promise<{ readonly snapshot: WorkSnapshot; readonly row: WorkRow; readonly attempt: AttemptRow }> {
  const { row, epoch } = await lockUnfinishedWithEpoch(tx, work);
  // Only a run that follows another one writes this.
  const earlierRun = row.recordedIn?.runId;
  if (run !== undefined && earlierRun !== undefined && earlierRun !== run) {
    const table = workTable(work.kind);
    row.recordedIn = startOfRun(run);
    await tx.update(table).set({ recordedIn: row.recordedIn }).where(eq(table.id, work.id));
  }
  const open = (number: number) => prepareAttempt(dependencies, tx, work, row, number);
  const compared = { epoch, witness, sentIn, leaseMs: dependencies.sendLeaseMs, open };
  const { isRestored, isFirstSinceRestart } = await recover(tx, work, row, compared);

  const { current, reports } = await readProgress(tx, work);
  const attempt = current ?? (await open(1));
  const maxPrice = moneyOf(row.maxPriceAmount, row.maxPriceCurrency);
  const snapshot = {
    status: row.status,
    acceptedAt: row.createdAt.getTime(),
    attempt: snapshotOf(attempt),
    epoch,
    isRestored: isRestored || undefined,
    isFirstSinceRestart: isFirstSinceRestart || undefined,
    extraAttempts: row.extraAttempts,
    observations: reports.flatMap((each) => observationOf(each, attempt, epoch)),
    attention: row.attentionReason ?? undefined,
    retryOverrides: row.retryOverrides ?? undefined,
    nextStepAt: row.nextStepAt?.getTime(),
    failure: row.failureClass ?? undefined,
    maxPrice: maxPrice === undefined ? undefined : plainText(maxPrice),
    deadlineAt: row.deadlineAt?.getTime(),
    subscription: 'externalSubscriptionId' in row ? subscriptionSnapshot(row) : undefined,
    cancellation: 'onUnmetConditions' in row ? await cancellationSnapshot(tx, row) : undefined,
  };
  return { snapshot, row, attempt };
}

/** A row that the relay has not judged yet reaches the workflow as a signal. */
function observationOf(row: InboxRow, latest: AttemptRow, epoch: string): ServiceObservation[] {
  const { source, outcome, decision } = row;
  if (decision === null || decision === 'known' || outcome === null) return [];
  return [{ inboxId: inboxKey(row), epoch, source, attemptNumber: latest.number, outcome, decision }];
}

export function openNextAttempt(
  dependencies: WorkDependencies,
  { work, number }: Parameters<PurchaseActivities['openNextAttempt']>[0],
): Promise<OpenResult> {
  return dependencies.database.transaction(async (tx) => {
    const { row, epoch } = await lockUnfinishedWithEpoch(tx, work);
    const known = await findAttempt(tx, work, number);
    if (known !== undefined) return { kind: 'opened', attempt: snapshotOf(known) };
    if (row.comparedEpoch !== epoch) return { kind: 'not_compared' };
    const by = await buyingBlock(tx, work);
    if (by !== undefined) return { kind: 'barred', by };
    const allowed = await attemptsInForce(dependencies, tx, work, row);
    if (number > allowed) return { kind: 'not_allowed', attempts: allowed };
    if (KINDS[work.kind].isPurchase && !(await areSettled(tx, work))) return { kind: 'unsettled' };
    return { kind: 'opened', attempt: snapshotOf(await prepareAttempt(dependencies, tx, work, row, number)) };
  });
}

/** Stored with the work, so that later grants count from there. */
async function attemptsInForce(
  { purchaseInForce, now }: WorkDependencies,
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
): Promise<number> {
  const { retryRule: stored, retryOverrides, extraAttempts } = row;
  const rule = retryRule('supplier_failed', await purchaseInForce(tx));
  if (stored !== null && rule.attempts < stored.attempts) {
    const lowered = { ...stored, attempts: rule.attempts };
    await changeWork(tx, work, row, { set: { retryRule: lowered } }, new Date(now()));
  }
  return ruleOfWork(rule, retryOverrides ?? {}, extraAttempts).attempts;
}

/** Key, reference and bytes follow from work and number: a lost row is written again as it was. */
async function prepareAttempt(
  dependencies: WorkDependencies,
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  number: number,
): Promise<AttemptRow> {
  const { keyRing } = dependencies;
  const { reference, serviceEsimId, body } = await SERVICE_CALLS[work.kind].prepare(dependencies, tx, row, number);
  const [attempt] = await sendTogether([
    () =>
      openAttempt(tx, {
        work,
        number,
        idempotencyKey: attemptKey(keyRing, work, number),
        reference,
        serviceEsimId,
        encryptedBody: (attemptId) => keyRing.encrypt(body, requestBodyAad(attemptId)),
      }),
    () =>
      addTimelineEntry(tx, work, {
        event: 'attempt.prepared',
        message:
          `Attempt ${number} was prepared: its key${reference === undefined ? '' : ', reference'} and exact ` +
          'body are stored.',
        detail: { attempt: number, ...(reference !== undefined && { reference }) },
        dedupKey: `attempt.prepared:${number}`,
      }),
  ]);
  return attempt;
}

/**
 * Stored before the first send (rule 1 of docs/reference/rules.md). An existing attempt is not changed, so that a step
 * that runs twice sends the same bytes.
 */
export async function openAttempt(
  tx: Executor,
  attempt: {
    readonly work: WorkRef;
    readonly number: number;
    readonly idempotencyKey: string;
    readonly reference: string | undefined;
    readonly serviceEsimId?: string | undefined;
    readonly encryptedBody: (attemptId: string) => Buffer;
  },
): Promise<AttemptRow> {
  const id = newId('attempt');
  const { work, number, idempotencyKey, reference, serviceEsimId, encryptedBody } = attempt;
  const { shape, places, values } = placesOf({
    id,
    subjectKind: work.kind,
    subjectId: work.id,
    number,
    idempotencyKey,
    reference: reference ?? null,
    serviceEsimId: serviceEsimId ?? null,
    encryptedRequestBody: encryptedBody(id),
  });
  const statement = prepared(tx, `insert attempt ${shape}`, (on, name) =>
    on
      .insert(attempts)
      .values(places)
      .onConflictDoNothing({ target: [attempts.subjectKind, attempts.subjectId, attempts.number] })
      .returning()
      .prepare(name),
  );
  const [[inserted]] = await sendTogether([
    () => statement.execute(values),
    () => requeueUnmatched(tx, work.kind, { reference, serviceEsimId }),
  ]);
  const row = inserted ?? (await findAttempt(tx, work, number));
  if (row === undefined) throw new Error(`attempt ${number} of ${work.id} cannot be read back`);
  return row;
}
