/** Changes of the service's circuits in PostgreSQL. */
import { eq } from 'drizzle-orm';
import { noteFilled } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { type CircuitGlance, type CircuitRow, circuitOfRow, isCanary, listCircuits } from '#db/gate/circuits.ts';
import { gateCircuits } from '#db/schema.ts';
import { sendEventFor, type SendEvidence } from '#domain/gate/circuit-evidence.ts';
import {
  afterCircuitEvent,
  circuitNames,
  CLOSED_CIRCUIT,
  type Circuit,
  type CircuitEvent,
  type CircuitName,
  type CircuitPolicy,
} from '#domain/gate/circuit.ts';
import { withoutQuote } from '#domain/work/foreign-text.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/** A change of state, for the log. */
export interface CircuitChange {
  readonly name: CircuitName;
  readonly from: Circuit['state'];
  readonly to: Circuit['state'];
  readonly detail: string | null;
}

/** An event of a circuit, with its details. */
export interface CircuitOccasion {
  readonly event: CircuitEvent;
  readonly now: number;
  readonly retryAfterMs?: number | undefined;
  readonly detail?: string | undefined;
  /** With `probe_started`: the canary. */
  readonly canary?: WorkRef;
}

/**
 * Applies an event to a locked circuit.
 * @returns the row afterwards.
 */
export async function moveCircuit(
  tx: Executor,
  row: CircuitRow,
  { event, now, retryAfterMs, detail, canary }: CircuitOccasion,
  policy: CircuitPolicy,
): Promise<CircuitRow> {
  const before = circuitOfRow(row);
  const after = afterCircuitEvent(row.name, before, { event, now, retryAfterMs }, policy);
  if (after === before) return row;
  const isProbing = after.state === 'probing';
  const [stored] = await tx
    .update(gateCircuits)
    .set({
      state: after.state,
      failures: after.failures,
      openings: after.openings,
      probeAt: after.probeAt === null ? null : new Date(after.probeAt),
      canaryUntil: after.canaryUntil === null ? null : new Date(after.canaryUntil),
      canaryKind: isProbing ? (canary?.kind ?? row.canaryKind) : null,
      canaryId: isProbing ? (canary?.id ?? row.canaryId) : null,
      detail: detail ?? row.detail,
      openedAt: after.state === 'closed' ? null : (row.openedAt ?? new Date(now)),
      ...(after.state !== before.state && { changedAt: new Date(now) }),
    })
    .where(eq(gateCircuits.name, row.name))
    .returning();
  if (stored === undefined) throw new Error(`circuit ${row.name} vanished while it was locked`);
  if (stored.state !== 'closed') noteFilled(tx, 'gate');
  return stored;
}

/** The result of a send, for the circuits. */
export interface ReportedSend {
  readonly work: WorkRef;
  readonly evidence: SendEvidence;
  readonly retryAfterMs?: number | undefined;
  /** The failure as a sentence. */
  readonly detail?: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The circuits after a send. */
export interface NotedSend {
  readonly changes: readonly CircuitChange[];
  /** Circuits whose condition the failure showed, as they are now. */
  readonly failed: readonly { readonly circuit: CircuitRow; readonly wasCanary: boolean }[];
}

/** Reports the result of a send to the circuits. */
export async function noteSend(tx: Executor, send: ReportedSend, policy: CircuitPolicy): Promise<NotedSend> {
  const known = new Map((await listCircuits(tx)).map((row) => [row.name, row]));
  const changes: CircuitChange[] = [];
  const failed: NotedSend['failed'][number][] = [];
  for (const name of circuitNames) {
    if (eventOf(name, known.get(name), send) === undefined) continue;
    const row = await lockCircuit(tx, name);
    // It may have changed before we got the lock.
    const event = eventOf(name, row, send);
    if (event === undefined) continue;
    const after = await moveCircuit(
      tx,
      row,
      {
        ...send,
        event,
        detail: event.endsWith('failed') && send.detail !== undefined ? withoutQuote(send.detail) : undefined,
      },
      policy,
    );
    if (after.state !== row.state) changes.push({ name, from: row.state, to: after.state, detail: after.detail });
    if (event.endsWith('failed')) failed.push({ circuit: after, wasCanary: event === 'canary_failed' });
  }
  return { changes, failed };
}

/**
 * True when the result of a send changes no circuit, as is usual: none is open or counts failures, and the work is
 * nobody's canary. The report then needs no transaction.
 *
 * @param circuits read without a lock. A circuit that changes at this moment learns from the next send.
 */
export function changesNoCircuit(
  circuits: readonly CircuitGlance[],
  send: Pick<ReportedSend, 'work' | 'evidence'>,
): boolean {
  const known = new Map(circuits.map((row) => [row.name, row]));
  return circuitNames.every((name) => eventOf(name, known.get(name), send) === undefined);
}

function eventOf(
  name: CircuitName,
  row: CircuitGlance | undefined,
  { work, evidence }: Pick<ReportedSend, 'work' | 'evidence'>,
): CircuitEvent | undefined {
  return sendEventFor(name, row, row !== undefined && isCanary(row, work), evidence);
}

async function lockCircuit(tx: Executor, name: CircuitName): Promise<CircuitRow> {
  await tx
    .insert(gateCircuits)
    .values({ name, ...CLOSED })
    .onConflictDoNothing();
  const [row] = await tx.select().from(gateCircuits).where(eq(gateCircuits.name, name)).for('update');
  if (row === undefined) throw new Error(`circuit ${name} cannot be read back`);
  return row;
}

const CLOSED = { state: CLOSED_CIRCUIT.state, failures: 0, openings: 0 } as const;

/** A sign that a condition is over, such as a deposit: the next canary may pass at once. */
export async function noteSignOfLife(
  tx: Executor,
  name: CircuitName,
  now: number,
  policy: CircuitPolicy,
): Promise<void> {
  const [row] = await tx.select().from(gateCircuits).where(eq(gateCircuits.name, name)).for('update');
  if (row?.state === 'open') await moveCircuit(tx, row, { event: 'succeeded', now }, policy);
}
