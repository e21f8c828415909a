import { asc, eq, ne } from 'drizzle-orm';
import { noteRowsAdded } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { gateCircuits } from '#db/schema.ts';
import {
  afterCircuitEvent,
  circuitNames,
  sendEventFor,
  type Circuit,
  type CircuitEvent,
  type CircuitName,
  type CircuitPolicy,
  type SendEvidence,
} from '#domain/gate/circuit.ts';
import { withoutQuote } from '#domain/work/foreign-text.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

export type CircuitRow = typeof gateCircuits.$inferSelect;

export interface CircuitChange extends Pick<CircuitRow, 'name' | 'detail'> {
  readonly from: Circuit['state'];
  readonly to: Circuit['state'];
}

export async function listCircuits(db: Executor): Promise<CircuitRow[]> {
  return db.select().from(gateCircuits).orderBy(asc(gateCircuits.name));
}

/** Locked in the order of their names. */
export async function lockUnclosed(tx: Executor): Promise<CircuitRow[]> {
  const { name, state } = gateCircuits;
  return tx.select().from(gateCircuits).where(ne(state, 'closed')).orderBy(asc(name)).for('update');
}

export function isCanary(row: Pick<CircuitRow, 'canaryKind' | 'canaryId'>, { kind, id }: WorkRef): boolean {
  return row.canaryKind === kind && row.canaryId === id;
}

/** `row` is locked; `canary` belongs to `probe_started`. */
export async function moveCircuit(
  tx: Executor,
  row: CircuitRow,
  happening: Parameters<typeof afterCircuitEvent>[2] & {
    readonly detail?: string | undefined;
    readonly canary?: WorkRef | undefined;
  },
  policy: CircuitPolicy,
): Promise<CircuitRow> {
  const { now, detail, canary } = happening;
  const after = afterCircuitEvent(row.name, row, happening, policy);
  if (after === row) return row;
  const { state, failures, openings, probeAt, canaryUntil } = after;
  const isProbing = state === 'probing';
  const [stored] = await tx
    .update(gateCircuits)
    .set({
      state,
      failures,
      openings,
      probeAt,
      canaryUntil,
      canaryKind: isProbing ? (canary?.kind ?? row.canaryKind) : null,
      canaryId: isProbing ? (canary?.id ?? row.canaryId) : null,
      detail: detail ?? row.detail,
      openedAt: state === 'closed' ? null : (row.openedAt ?? new Date(now)),
      ...(state !== row.state && { changedAt: new Date(now) }),
    })
    .where(eq(gateCircuits.name, row.name))
    .returning();
  if (stored === undefined) throw new Error(`circuit ${row.name} vanished while it was locked`);
  if (stored.state !== 'closed') noteRowsAdded(tx, 'gate');
  return stored;
}

interface ReportedSend {
  readonly work: WorkRef;
  readonly evidence: SendEvidence;
  readonly retryAfterMs?: number | undefined;
  readonly detail?: string | undefined;
  readonly now: number;
}

/** @returns `failed`: the circuits whose condition the failure showed, as they are now. */
export async function noteSend(tx: Executor, send: ReportedSend, policy: CircuitPolicy) {
  const known = await circuitsByName(tx);
  const changes: CircuitChange[] = [];
  const failed: { readonly circuit: CircuitRow; readonly wasCanary: boolean }[] = [];
  for (const name of circuitNames) {
    if (eventOf(name, known.get(name), send) === undefined) continue;
    const row = await lockCircuit(tx, name);
    // It may have changed before we got the lock.
    const event = eventOf(name, row, send);
    if (event === undefined) continue;
    const isFailure = event.endsWith('failed');
    const detail = isFailure && send.detail !== undefined ? withoutQuote(send.detail) : undefined;
    const after = await moveCircuit(tx, row, { ...send, event, detail }, policy);
    if (after.state !== row.state) changes.push({ name, from: row.state, to: after.state, detail: after.detail });
    if (isFailure) failed.push({ circuit: after, wasCanary: event === 'canary_failed' });
  }
  return { changes, failed };
}

/** The usual case. Reads without a lock: a circuit that changes at this moment learns from the next send. */
export async function changesNoCircuit(db: Executor, send: Pick<ReportedSend, 'work' | 'evidence'>): Promise<boolean> {
  const known = await circuitsByName(db);
  return circuitNames.every((name) => eventOf(name, known.get(name), send) === undefined);
}

async function circuitsByName(db: Executor): Promise<ReadonlyMap<CircuitName, CircuitRow>> {
  return new Map((await listCircuits(db)).map((row) => [row.name, row]));
}

function eventOf(
  name: CircuitName,
  row: CircuitRow | undefined,
  { work, evidence }: Pick<ReportedSend, 'work' | 'evidence'>,
): CircuitEvent | undefined {
  return sendEventFor(name, row, row !== undefined && isCanary(row, work), evidence);
}

async function lockCircuit(tx: Executor, name: CircuitName): Promise<CircuitRow> {
  await tx.insert(gateCircuits).values({ name }).onConflictDoNothing();
  const [row] = await tx.select().from(gateCircuits).where(eq(gateCircuits.name, name)).for('update');
  if (row === undefined) throw new Error(`circuit ${name} cannot be read back`);
  return row;
}

/** Such as a deposit: the next canary may pass at once. */
export async function noteSignOfLife(
  tx: Executor,
  name: CircuitName,
  now: number,
  policy: CircuitPolicy,
): Promise<void> {
  const [row] = await tx.select().from(gateCircuits).where(eq(gateCircuits.name, name)).for('update');
  if (row?.state === 'open') await moveCircuit(tx, row, { event: 'succeeded', now }, policy);
}
