/** Queries of circuits. */
import { asc, ne, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { gateCircuits } from '#db/schema.ts';
import type { Circuit } from '#domain/gate/circuit.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

export type CircuitRow = typeof gateCircuits.$inferSelect;

/** A circuit in terms of the domain: times in epoch milliseconds. */
export function circuitOfRow(row: CircuitRow): Circuit {
  return {
    state: row.state,
    failures: row.failures,
    openings: row.openings,
    probeAt: row.probeAt?.getTime() ?? null,
    canaryUntil: row.canaryUntil?.getTime() ?? null,
  };
}

/** True when this work is the canary of the circuit. */
export function isCanary(row: Pick<CircuitRow, 'canaryKind' | 'canaryId'>, { kind, id }: WorkRef): boolean {
  return row.canaryKind === kind && row.canaryId === id;
}

/** The part of a circuit by which the result of a send is judged. */
export type CircuitGlance = Pick<CircuitRow, 'name' | 'state' | 'failures' | 'canaryKind' | 'canaryId'>;

/** All circuits that ever changed, as one column of a query that runs anyway. */
export const circuitsAtAGlance = sql<CircuitGlance[]>`(select coalesce(jsonb_agg(jsonb_build_object(
  'name', ${gateCircuits.name}, 'state', ${gateCircuits.state}, 'failures', ${gateCircuits.failures},
  'canaryKind', ${gateCircuits.canaryKind}, 'canaryId', ${gateCircuits.canaryId})), '[]') from ${gateCircuits})`;

/** All circuits that ever changed. */
export async function listCircuits(db: Executor): Promise<CircuitRow[]> {
  return db.select().from(gateCircuits).orderBy(asc(gateCircuits.name));
}

/** Circuits that are not closed, locked in the order of their names. */
export async function lockUnclosed(tx: Executor): Promise<CircuitRow[]> {
  return tx
    .select()
    .from(gateCircuits)
    .where(ne(gateCircuits.state, 'closed'))
    .orderBy(asc(gateCircuits.name))
    .for('update');
}
