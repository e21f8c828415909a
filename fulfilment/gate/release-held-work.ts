/**
 * One canary when a circuit is due, the others at a set rate, oldest first. Every worker runs this about once a second
 * while the gate is in use; one at a time does it.
 */
import { and, asc, eq, inArray, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { leaveQueue, firstInQueue, noteProbe, queuedBarriers, queuedKeys, type GateWait } from '#db/gate/waits.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { gateWaits, gateWallet } from '#db/schema.ts';
import { workOf } from '#db/work/attempts.ts';
import { isIdle } from '#domain/gate/circuit.ts';
import { circuitOf, driftStopOf, pauseOf, releasable, type Barrier } from '#domain/gate/purchase-gate.ts';
import { spendDay } from '#domain/gate/spend-limit.ts';
import { compareMoney, moneyOf, subtractMoney, type Money } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { readAccount, limitProblem, usableBalance, reservedIn } from '#fulfilment/gate/account.ts';
import { listCircuits, lockUnclosed, moveCircuit, type CircuitChange } from '#fulfilment/gate/circuits.ts';
import { isOfOtherProduct, driftStopsInForce, tendDriftStops } from '#fulfilment/gate/drift-stop.ts';
import { activePauses } from '#fulfilment/gate/pauses.ts';

/** The keys at a spend limit have a queue each. */
const LOOK_AHEAD = 200;

/**
 * `wantsReading`: work waits for money and the balance should be read. @returns undefined when another worker runs it.
 */
export async function releaseHeldWork(tx: Executor, now: number, policy: GatePolicy) {
  const answer = await tx.execute<{ mine: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended('purchase_gate.release', 0)) as mine`,
  );
  if (answer.rows[0]?.mine !== true) return undefined;
  const { canaries, changes } = await tendCircuits(tx, now, policy);
  const woken = [...canaries, ...(await tendDriftStops(tx, now, policy)), ...(await release(tx, now, policy))];
  return { woken, changes, wantsReading: await wantsReading(tx, now, policy) };
}

async function tendCircuits(tx: Executor, now: number, policy: GatePolicy) {
  const canaries: WorkRef[] = [];
  const changes: CircuitChange[] = [];
  for (const locked of await lockUnclosed(tx)) {
    let row = locked;
    const move = async (event: 'canary_lost' | 'probe_started' | 'drained' | 'idle', canary?: WorkRef) => {
      const after = await moveCircuit(tx, row, { event, now, canary }, policy);
      if (after.state !== row.state)
        changes.push({ name: row.name, from: row.state, to: after.state, detail: after.detail });
      row = after;
    };
    if (row.state === 'probing' && row.canaryUntil !== null && row.canaryUntil.getTime() <= now)
      await move('canary_lost');
    const first = await firstInQueue(tx, `circuit:${row.name}`);
    if (row.state === 'releasing' && first === undefined) await move('drained');
    if (isIdle(row, first !== undefined, now, policy)) await move('idle');
    if (row.state === 'open' && first !== undefined && row.probeAt !== null && row.probeAt.getTime() <= now) {
      const canary = workOf(first);
      await noteProbe(tx, canary);
      await move('probe_started', canary);
      await requestWake(tx, canary);
      canaries.push(canary);
    }
  }
  return { canaries, changes };
}

async function release(tx: Executor, now: number, policy: GatePolicy): Promise<WorkRef[]> {
  const waiting = await releasableWaits(tx);
  if (waiting.length === 0) return [];
  const [state] = await tx.select({ releasedAt: gateWallet.releasedAt }).from(gateWallet);
  const allowed = releasable(state?.releasedAt?.getTime() ?? null, now, policy.releasesPerSecond);
  const isFree = await freed(tx, now, policy);
  const released: WorkRef[] = [];
  for (const wait of waiting) {
    if (released.length >= allowed) break;
    if (!(await isFree(wait))) continue;
    const work = workOf(wait);
    await leaveQueue(tx, work);
    await requestWake(tx, work);
    released.push(work);
  }
  if (released.length > 0) {
    const releasedAt = new Date(now);
    await tx
      .insert(gateWallet)
      .values({ releasedAt })
      .onConflictDoUpdate({ target: gateWallet.singleton, set: { releasedAt } });
  }
  return released;
}

/** Oldest first, and some of each queue: many that wait for money do not hide the others. */
async function releasableWaits(tx: Executor): Promise<GateWait[]> {
  const found: GateWait[] = [];
  for (const queue of await openQueues(tx)) {
    const some = await tx
      .select()
      .from(gateWaits)
      .where(queue)
      .orderBy(asc(gateWaits.acceptedAt), asc(gateWaits.subjectId))
      .limit(LOOK_AHEAD)
      // Rows that are locked now are released in the next run.
      .for('update', { skipLocked: true });
    found.push(...some);
  }
  return found.toSorted((left, right) => left.acceptedAt.getTime() - right.acceptedAt.getTime());
}

/** Conditions on `gate_waits`. */
async function openQueues(tx: Executor): Promise<(SQL | undefined)[]> {
  const barriers = await queuedBarriers(tx);
  if (barriers.length === 0) return [];
  const driftStops = await driftStopsInForce(tx);
  const openCircuits = (await listCircuits(tx)).filter(({ state }) => state === 'open' || state === 'probing');
  // Only a canary may pass these.
  const closed = new Set<Barrier>([
    ...openCircuits.map(({ name }) => `circuit:${name}` as const),
    ...(await activePauses(tx)).map(({ id }) => `pause:${id}` as const),
    ...driftStops.filter(({ state }) => state !== 'product_stopped').map(({ kind }) => `drift:${kind}` as const),
  ]);
  const queues: (SQL | undefined)[] = [];
  for (const barrier of barriers.filter((each) => !closed.has(each))) {
    const ofBarrier = eq(gateWaits.barrier, barrier);
    const kind = driftStopOf(barrier);
    const stopped = driftStops.find((each) => each.kind === kind)?.stoppedProducts ?? [];
    if (kind !== undefined) queues.push(and(ofBarrier, isOfOtherProduct(kind, stopped)));
    else if (barrier !== 'spend_limit') queues.push(ofBarrier);
    // Work of a key whose limit is used up must not hide that of another key.
    else queues.push(...(await queuedKeys(tx, barrier)).map((key) => and(ofBarrier, eq(gateWaits.apiKeyId, key))));
  }
  return queues;
}

/** The returned function subtracts the money of each wait that it lets go. */
async function freed(tx: Executor, now: number, policy: GatePolicy): Promise<(wait: GateWait) => Promise<boolean>> {
  const reading = await usableBalance(tx);
  const isOld = reading === undefined || now - reading.readAt.getTime() > policy.balanceAgeMs;
  /** By API key, the lowest price that a daily limit has refused: higher prices need no check. */
  const tooMuch = new Map<string, Money>();
  let available =
    reading === undefined ? undefined : subtractMoney(reading.balance, await reservedIn(tx, reading.balance.currency));
  const fitsLimits = async (apiKeyId: string, price: Money) => {
    const known = tooMuch.get(apiKeyId);
    if (known !== undefined && known.currency === price.currency && compareMoney(price, known) >= 0) return false;
    const account = await readAccount(tx, { apiKeyId, day: spendDay(now), currency: price.currency });
    const fits = limitProblem(account, price, policy) === undefined;
    if (!fits) tooMuch.set(apiKeyId, price);
    return fits;
  };
  return async (wait) => {
    const price = moneyOf(wait.priceAmount, wait.priceCurrency);
    switch (wait.barrier) {
      case 'wallet':
        // Without a known balance the service itself decides; an old balance is read first.
        if (price === undefined || available === undefined || price.currency !== available.currency) return true;
        if (isOld || compareMoney(price, available) > 0) return false;
        available = subtractMoney(available, price);
        return true;
      case 'spend_limit':
        return price === undefined || (await fitsLimits(wait.apiKeyId, price));
      default:
        return [circuitOf, pauseOf, driftStopOf].some((read) => read(wait.barrier) !== undefined);
    }
  };
}

async function wantsReading(tx: Executor, now: number, policy: GatePolicy): Promise<boolean> {
  const forMoney = inArray(gateWaits.barrier, ['wallet', 'circuit:insufficient_balance']);
  const short = await tx.select({ id: gateWaits.subjectId }).from(gateWaits).where(forMoney).limit(1);
  if (short.length === 0) return false;
  const reading = await usableBalance(tx);
  return reading === undefined || now - reading.readAt.getTime() >= policy.balanceAgeMs / 2;
}
