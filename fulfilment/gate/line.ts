/** The drift stop at the gate: what it holds, whose turn it is, and when it ends. See `domain/gate/drift.ts`. */
import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import {
  findLine,
  lineOfRow,
  lockLine,
  productColumn,
  storeLine,
  waitingAtLine,
  type LineRow,
} from '#db/gate/lines.ts';
import { noteProbe } from '#db/gate/waits.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { attempts, gateDrifts, vpnSubscriptions } from '#db/schema.ts';
import { currentAttempt } from '#db/work/attempts.ts';
import { workTable, readWork } from '#db/work/rows.ts';
import { readVpnSubscription } from '#db/work/vpn-subscriptions.ts';
import {
  afterLook,
  afterSend,
  judgeAtLine,
  LONGEST_FILL_MS,
  lineTexts,
  nextCanary,
  withoutCanary,
  type CanaryFate,
} from '#domain/gate/drift.ts';
import type { GateStop } from '#domain/gate/purchase-gate.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { mayHaveBought, type SendCandidate } from '#domain/purchase/send-claim.ts';
import { PURCHASE_KINDS, type PurchaseKind, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';

/** A purchase that asks to pass its line. */
interface Asker {
  readonly work: WorkRef;
  readonly attempt: Pick<SendCandidate, 'state' | 'anyUnknown'>;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Why the line does not let a purchase through; undefined when it may pass. Changes nothing. */
export async function stopAtLine(tx: Executor, asker: Asker, policy: GatePolicy): Promise<GateStop | undefined> {
  const kind = purchaseKindOf(asker.work);
  const row = kind === undefined ? undefined : await findLine(tx, kind);
  if (kind === undefined || row === undefined) return undefined;
  return (await judge(tx, kind, row, asker, policy)).stop;
}

/**
 * As {@link stopAtLine}, in the transaction that claims the send: takes the turn of the canary, so that no other
 * purchase goes beside it.
 */
export async function passLine(tx: Executor, asker: Asker, policy: GatePolicy): Promise<GateStop | undefined> {
  const kind = purchaseKindOf(asker.work);
  if (kind === undefined || ((await findLine(tx, kind))?.state ?? 'open') === 'open') return undefined;
  const row = await lockLine(tx, kind);
  const { stop, canaryOf } = await judge(tx, kind, row, asker, policy);
  if (canaryOf === undefined) return stop;
  const { now, work } = asker;
  await storeLine(tx, row, afterSend(lineOfRow(row), { id: work.id, product: canaryOf }, now), now);
  return undefined;
}

/** Why the line would hold a purchase that is not requested yet, as a sentence; undefined when it would pass. */
export async function foreseenAtLine(
  db: Executor,
  { kind, product, now }: { readonly kind: WorkKind; readonly product: number; readonly now: number },
  policy: GatePolicy,
): Promise<string | undefined> {
  const purchase = PURCHASE_KINDS.find((each) => each === kind);
  const row = purchase === undefined ? undefined : await findLine(db, purchase);
  if (purchase === undefined || row === undefined) return undefined;
  const isFirst = (await waitingAtLine(db, purchase, { limit: 1 })).length === 0;
  const line = lineOfRow(row);
  const answer = judgeAtLine(line, { id: '', product, mayHaveBought: false, isFirst }, now, policy);
  return answer === 'hold' ? holdText(row) : undefined;
}

/** A purchase that is held elsewhere is no canary any more. */
export async function leaveLine(tx: Executor, work: WorkRef, now: number): Promise<void> {
  const kind = purchaseKindOf(work);
  const known = kind === undefined ? undefined : await findLine(tx, kind);
  if (kind === undefined || known?.canaries.some(({ id }) => id === work.id) !== true) return;
  const row = await lockLine(tx, kind);
  await storeLine(tx, row, withoutCanary(lineOfRow(row), work.id), now);
}

/** @returns the stop; or the product of the purchase, when it goes as the canary. */
async function judge(
  tx: Executor,
  kind: PurchaseKind,
  row: LineRow,
  { work, attempt, now }: Asker,
  policy: GatePolicy,
): Promise<{ readonly stop?: GateStop; readonly canaryOf?: number }> {
  const line = lineOfRow(row);
  const table = workTable(kind);
  const [ordered] = await tx
    .select({ product: productColumn(kind) })
    .from(table)
    .where(eq(table.id, work.id));
  if (ordered === undefined) return {};
  const { product } = ordered;
  const [first] = await waitingAtLine(tx, kind, { limit: 1 });
  const isFirst = first === undefined || first.id === work.id;
  const candidate = { id: work.id, product, mayHaveBought: mayHaveBought(attempt), isFirst };
  const answer = judgeAtLine(line, candidate, now, policy);
  if (answer === 'pass') return {};
  if (answer === 'canary') return { canaryOf: product };
  const detail = holdText(row);
  return { stop: { barrier: `drift:${kind}`, failure: 'purchases_paused', detail, recheckMs: policy.recheckMs } };
}

function holdText(row: LineRow): string {
  const { stops, end } = lineTexts(row.kind, lineOfRow(row));
  return [stops, row.detail, end].filter((text) => text !== null).join(' ');
}

/**
 * Looks at the lines: settles drifted purchases, ends stops, and calls canaries.
 * @returns the called canaries.
 */
export async function tendLines(tx: Executor, now: number, policy: GatePolicy): Promise<WorkRef[]> {
  const called: WorkRef[] = [];
  for (const kind of PURCHASE_KINDS) {
    const known = await findLine(tx, kind);
    const hasDrifts = (await openDrifts(tx, kind)).length > 0;
    if ((known === undefined || known.state === 'open') && !hasDrifts) continue;
    const canary = await tendLine(tx, await lockLine(tx, kind), now, policy);
    if (canary !== undefined) called.push(canary);
  }
  return called;
}

async function tendLine(tx: Executor, row: LineRow, now: number, policy: GatePolicy): Promise<WorkRef | undefined> {
  const { kind } = row;
  const [over, open] = partition(await openDrifts(tx, kind));
  const settled = await settleDrifts(tx, kind, over);
  const longestFillMs = Math.max(row.longestFillMs, settled.longestFillMs);
  const parked = open.filter(({ driftedAt }) => driftedAt !== null);
  const fates = new Map<string, CanaryFate>();
  for (const { id, sentAt } of row.canaries) if (sentAt !== null) fates.set(id, await fateOf(tx, { kind, id }));
  const parkedProducts = new Set(parked.map(({ product }) => product));
  const facts = { fates, parkedProducts, unprovenProducts: settled.unprovenProducts };
  let line = afterLook(lineOfRow(row), facts, now, policy);
  const isStopped = ({ product }: { readonly product: number }) => line.stoppedProducts.includes(product);
  // Both ends of the queue: work of stopped products must not hide the others.
  const waiting = [
    ...(await waitingAtLine(tx, kind, { limit: 1, except: line.stoppedProducts })),
    ...(await waitingAtLine(tx, kind, { limit: 1 })).filter(isStopped),
  ];
  const next = nextCanary(line, waiting, now, policy);
  if (next !== undefined) {
    line = { ...line, canaries: [...line.canaries, { ...next, calledAt: now, sentAt: null }] };
    await noteProbe(tx, { kind, id: next.id });
    await requestWake(tx, { kind, id: next.id });
  }
  await storeLine(tx, row, line, now, { longestFillMs });
  return next === undefined ? undefined : { kind, id: next.id };
}

/** The drifted or unfilled purchases of a kind that are not settled, with what our rows show of them. */
async function openDrifts(tx: Executor, kind: PurchaseKind) {
  const table = workTable(kind);
  const isVpn = kind === 'vpn_subscription';
  return tx
    .select({
      id: gateDrifts.subjectId,
      product: gateDrifts.product,
      unfilledSince: gateDrifts.unfilledSince,
      driftedAt: gateDrifts.driftedAt,
      status: table.status,
      completedAt: table.completedAt,
      costNothing: sql<boolean>`${attempts.state} = 'failed' and ${attempts.settled}`,
      // A subscription may have ended without access data.
      hasDelivery: isVpn ? sql<boolean>`${vpnSubscriptions.encryptedAccess} is not null` : sql<boolean>`true`,
    })
    .from(gateDrifts)
    .innerJoin(table, eq(table.id, gateDrifts.subjectId))
    .innerJoin(attempts, eq(attempts.id, gateDrifts.attemptId))
    .where(and(eq(gateDrifts.subjectKind, kind), isNull(gateDrifts.settledAt)));
}

type OpenDrift = Awaited<ReturnType<typeof openDrifts>>[number];

/** First the purchases that are delivered by now, or have ended otherwise: their attempt bought nothing after all. */
function partition(drifts: readonly OpenDrift[]): [OpenDrift[], OpenDrift[]] {
  const isOver = ({ completedAt, status, costNothing }: OpenDrift) =>
    completedAt !== null || isFinal(status) || costNothing;
  return [drifts.filter(isOver), drifts.filter((drift) => !isOver(drift))];
}

interface Settled {
  /** The longest fill among the purchases that are delivered whole, in milliseconds. */
  readonly longestFillMs: number;
  /** The products of those that were never whole. */
  readonly unprovenProducts: ReadonlySet<number>;
}

async function settleDrifts(tx: Executor, kind: PurchaseKind, over: readonly OpenDrift[]): Promise<Settled> {
  const ids = over.map(({ id }) => id);
  if (ids.length > 0)
    await tx
      .update(gateDrifts)
      .set({ settledAt: sql`clock_timestamp()` })
      .where(and(eq(gateDrifts.subjectKind, kind), inArray(gateDrifts.subjectId, ids)));
  const fills = over.flatMap(({ completedAt, unfilledSince, hasDelivery: has }) =>
    completedAt !== null && has && unfilledSince !== null ? [completedAt.getTime() - unfilledSince.getTime()] : [],
  );
  const unproven = over.filter(({ completedAt, hasDelivery: has }) => completedAt === null || !has);
  const unprovenProducts = new Set(unproven.map(({ product }) => product));
  return { longestFillMs: Math.min(LONGEST_FILL_MS, Math.max(0, ...fills)), unprovenProducts };
}

/** False for a subscription that has ended without access data. */
async function hasDelivery(tx: Executor, { kind, id }: WorkRef): Promise<boolean> {
  return kind !== 'vpn_subscription' || (await readVpnSubscription(tx, id)).encryptedAccess !== null;
}

async function fateOf(tx: Executor, work: WorkRef): Promise<CanaryFate> {
  const { status, completedAt } = await readWork(tx, work);
  if (completedAt !== null) return (await hasDelivery(tx, work)) ? 'whole' : 'passed_on';
  if (isFinal(status)) return 'passed_on';
  const attempt = await currentAttempt(tx, work);
  switch (attempt?.state) {
    case undefined:
    case 'prepared':
    case 'refused':
      return 'passed_on';
    case 'failed':
      return attempt?.settled ? 'passed_on' : 'pending';
    default:
      return 'pending';
  }
}

function purchaseKindOf({ kind }: WorkRef): PurchaseKind | undefined {
  return PURCHASE_KINDS.find((one) => one === kind);
}
