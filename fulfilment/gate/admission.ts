import { sql, type SQL, eq } from 'drizzle-orm';
import { spendLimitOf } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { consumeOverride, enqueue, findWait, firstInQueue, hasOverride, type GateWait } from '#db/gate/waits.ts';
import { gateCircuits, gateLines, gatePauses, gateWaits, apiKeys, gateWallet } from '#db/schema.ts';
import { type WorkRow, type AttemptRow, workTable, WorkMissingError } from '#db/work/rows.ts';
import { judgeAtCircuit, circuitSentence } from '#domain/gate/circuit.ts';
import { driftStopOf, type GateStop } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { isOutcomeUnknown } from '#domain/purchase/send-claim.ts';
import { isKnownToService } from '#domain/work/attempt-lifecycle.ts';
import { isAboutAccount } from '#domain/work/failure.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { usableBalanceIn } from '#fulfilment/gate/account.ts';
import { isCanary, lockUnclosed, type CircuitRow, moveCircuit, noteSend } from '#fulfilment/gate/circuits.ts';
import { leaveDriftStop, passDriftStop, stopAtDrift } from '#fulfilment/gate/drift-stop.ts';
import { activePauses, pauseFor, pauseSentence } from '#fulfilment/gate/pauses.ts';

/** Both rows are locked. */
interface GateRequest {
  readonly work: WorkRef;
  readonly row: Pick<WorkRow, 'createdAt' | 'apiKeyId' | 'failureClass'>;
  readonly attempt: Pick<AttemptRow, 'state' | 'anyUnknown' | 'failureClass'>;
  readonly now: number;
  /** False before the reservation is decided: work with reserved money ignores the circuit `insufficient_balance`. */
  readonly isUnreserved: boolean;
}

/** No pause is in force, no drift stop is in force, no circuit is open, and this work is not held. */
export function gateIsClear({ kind, id }: WorkRef): SQL<boolean> {
  return sql`not (
    exists (select 1 from ${gatePauses} where ${gatePauses.releasedAt} is null)
    or exists (select 1 from ${gateLines} where ${gateLines.state} <> 'open')
    or exists (select 1 from ${gateCircuits} where ${gateCircuits.state} <> 'closed')
    or exists (select 1 from ${gateWaits} where ${gateWaits.subjectKind} = ${kind} and ${gateWaits.subjectId} = ${id})
  )`;
}

/** A stopped piece of work is put into the queue of its barrier. @returns undefined when it passes. */
export async function stopAtGate(tx: Executor, asker: GateRequest, policy: GatePolicy): Promise<GateStop | undefined> {
  const { work, attempt } = asker;
  // The service has the attempt: nothing more is bought, so nothing is held.
  if (isKnownToService(attempt.state)) return undefined;
  const wait = await findWait(tx, work);
  const isReleased = await hasOverride(tx, work);
  const stop =
    (isReleased ? undefined : await stopByPause(tx, asker, wait, policy)) ??
    // No override lifts a drift stop: it would be money without a delivery.
    (await stopAtDrift(tx, asker, policy)) ??
    (await stopByCircuit(tx, asker, wait, isReleased, policy));
  if (stop !== undefined) await hold(tx, asker, stop, wait, policy);
  return stop;
}

/** What it was held for. The attempt has none after a failure of an earlier attempt, or one of ours. */
function failuresOf({ row, attempt }: Pick<GateRequest, 'row' | 'attempt'>, wait: GateWait | undefined) {
  return [wait?.failureClass, attempt.failureClass, row.failureClass].filter((each) => each != null);
}

async function stopByPause(
  tx: Executor,
  asker: GateRequest,
  wait: GateWait | undefined,
  policy: GatePolicy,
): Promise<GateStop | undefined> {
  const pause = pauseFor(await activePauses(tx), asker.work.kind, failuresOf(asker, wait));
  if (pause === undefined) return undefined;
  const detail = pauseSentence(pause);
  return { barrier: `pause:${pause.id}`, failure: 'purchases_paused', detail, recheckMs: policy.recheckMs };
}

/** In the transaction that claims the send, after every other check. @returns why another purchase goes first. */
export async function takeTurn(
  tx: Executor,
  asker: Omit<GateRequest, 'isUnreserved'>,
  policy: GatePolicy,
): Promise<GateStop | undefined> {
  const stop = await passDriftStop(tx, asker, policy);
  if (stop !== undefined) await hold(tx, asker, stop, await findWait(tx, asker.work), policy);
  return stop;
}

async function stopByCircuit(
  tx: Executor,
  asker: GateRequest,
  wait: GateWait | undefined,
  isReleased: boolean,
  policy: GatePolicy,
): Promise<GateStop | undefined> {
  const { work, now } = asker;
  const probes: CircuitRow[] = [];
  for (const row of await lockUnclosed(tx)) {
    if (row.name === 'insufficient_balance' && !asker.isUnreserved) continue;
    const barrier = `circuit:${row.name}` as const;
    const first = await firstInQueue(tx, barrier);
    const candidate = {
      isCanary: isCanary(row, work),
      isWaiting: wait?.barrier === barrier,
      isOldest: first === undefined || (first.subjectKind === work.kind && first.subjectId === work.id),
      isReleased,
    };
    const answer = judgeAtCircuit(row, candidate, now);
    if (answer === 'canary') probes.push(row);
    if (answer !== 'hold') continue;
    // What it said about the work of another key is for those who see the account.
    const said = row.detail !== null && isAboutAccount(row.name) ? ` The service last said: ${row.detail}` : '';
    const detail = `${circuitSentence(row.name)}${said}`;
    return { barrier, failure: row.name, detail, recheckMs: policy.recheckMs };
  }
  // Only work that passes all circuits can be a canary.
  for (const row of probes) await moveCircuit(tx, row, { event: 'probe_started', now, canary: work }, policy);
  return undefined;
}

/** Ends its role as a canary, too. */
export async function hold(
  tx: Executor,
  asker: Pick<GateRequest, 'work' | 'row' | 'attempt' | 'now'>,
  { barrier, failure }: GateStop,
  wait: GateWait | undefined,
  policy: GatePolicy,
  price?: Money,
): Promise<void> {
  const { work, row, attempt, now } = asker;
  const [heldFor = failure] = failure === 'purchases_paused' ? failuresOf(asker, wait) : [];
  await noteSend(tx, { work, evidence: { kind: 'none' }, now }, policy);
  await leaveDriftStop(tx, work, now);
  if (driftStopOf(barrier) !== undefined) await consumeOverride(tx, work);
  const { createdAt: acceptedAt, apiKeyId } = row;
  const place = { barrier, failureClass: heldFor, acceptedAt, apiKeyId, mayHaveBought: isOutcomeUnknown(attempt) };
  await enqueue(tx, { work, ...place, price }, new Date(now));
}

/** One statement. All of it is read again when the send is claimed. @throws WorkMissingError */
export async function readSendConditions(db: Executor, work: WorkRef) {
  const table = workTable(work.kind);
  const [read] = await db
    .select({
      row: table,
      isGateClear: gateIsClear(work),
      key: { spendLimitAmount: apiKeys.spendLimitAmount, spendLimitCurrency: apiKeys.spendLimitCurrency },
      wallet: gateWallet,
    })
    .from(table)
    .leftJoin(apiKeys, eq(apiKeys.id, table.apiKeyId))
    // One row, once the wallet was read.
    .leftJoin(gateWallet, sql`true`)
    .where(eq(table.id, work.id));
  if (read === undefined) throw new WorkMissingError(work);
  const { row, isGateClear, key, wallet } = read;
  return {
    row,
    isGateClear,
    keyLimit: key === null ? undefined : spendLimitOf(key),
    balance: usableBalanceIn(wallet),
  };
}
