import type { Executor } from '#db/connection/database.ts';
import { firstInQueue } from '#db/gate/waits.ts';
import { judgeAtCircuit } from '#domain/gate/circuit.ts';
import { spendDay } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import { circuitOfRow, listCircuits } from '#fulfilment/gate/circuits.ts';
import { foreseenAtLine } from '#fulfilment/gate/line.ts';
import { activePauses, pauseFor } from '#fulfilment/gate/pauses.ts';
import { readAccount, judgeWallet, limitProblem } from '#fulfilment/gate/reservations.ts';

export interface ForeseenHold {
  readonly failure: FailureClass;
  /** Absent when the meaning of the class says everything. */
  readonly detail?: string;
}

/**
 * By the comparisons of the gate itself. Nothing is reserved and the wallet is not read, so the answer may differ at
 * the send. `apiKeyId` is the first key of the lineage. Without `seesAll` the caller learns neither what all keys
 * spend nor what happened to others' orders.
 */
export async function foreseenHolds(
  db: Executor,
  purchase: {
    readonly kind: WorkKind;
    readonly product: number;
    readonly price: Money;
    readonly apiKeyId: string;
    readonly seesAll: boolean;
  },
  { spendLimit, now }: { readonly spendLimit: Money | undefined; readonly now: number },
): Promise<readonly ForeseenHold[]> {
  const { kind, product, price, apiKeyId, seesAll } = purchase;
  const account = await readAccount(db, { day: spendDay(now), apiKeyId, currency: price.currency });
  // A wallet that was not read lately is not known, as for the gate itself.
  const wallet = judgeWallet(account, price, new Date(now), DEFAULT_POLICY.gate);
  const holds = new Set<FailureClass>();
  const isPaused = pauseFor(await activePauses(db), kind, []) !== undefined;
  const atLine = isPaused ? undefined : await foreseenAtLine(db, { kind, product, now }, DEFAULT_POLICY.gate);
  if (isPaused) holds.add('purchases_paused');
  for (const row of await listCircuits(db)) {
    // A purchase with reserved money passes this circuit.
    if (row.name === 'insufficient_balance' && wallet === 'reserved') continue;
    const isOldest = (await firstInQueue(db, `circuit:${row.name}`)) === undefined;
    const candidate = { isCanary: false, isWaiting: false, isOldest, isReleased: false };
    if (judgeAtCircuit(circuitOfRow(row), candidate, now) === 'hold') holds.add(row.name);
  }
  if (typeof wallet !== 'string') holds.add('insufficient_balance');
  const overLimit = limitProblem(account, price, { spendLimit });
  const isOwn = limitProblem(account, price, { spendLimit: undefined }) === overLimit;
  return [
    ...[...holds].map((failure) => ({ failure })),
    ...(atLine === undefined ? [] : [{ failure: 'purchases_paused' as const, ...(seesAll && { detail: atLine }) }]),
    ...(overLimit === undefined
      ? []
      : [{ failure: 'spend_limit_reached' as const, ...((seesAll || isOwn) && { detail: overLimit }) }]),
  ];
}
