/** The books of both sides: our database and the service. */
import type { Database, Executor } from '#db/connection/database.ts';
import {
  attempts,
  cancellations,
  cases,
  esims,
  inbox,
  journal,
  orders,
  refunds,
  topups,
  vpnSubscriptions,
} from '#db/schema.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';

/** Our database and the service. A {@link Stack} has both. */
export interface BothSides {
  readonly database: Database;
  readonly simulator: HttpClient;
}

/** The fields of work that the invariants need. */
export interface Work {
  readonly kind: WorkKind;
  readonly id: string;
  readonly status: WorkStatus;
  readonly attentionReason: AttentionReason | null;
  /** The customer has cancelled the subscription, so an active one is in progress. */
  readonly cancelRequested?: boolean;
}

/** Reasons of movements that are for no purchase of ours. */
const OF_OTHERS: ReadonlySet<string> = new Set(['deposit', 'another_system']);

export type Books = Awaited<ReturnType<typeof readBooks>>;

export async function readWork(db: Executor): Promise<Work[]> {
  return [
    ...(await db.select().from(orders)).map((row) => ({ kind: 'order' as const, ...row })),
    ...(await db.select().from(topups)).map((row) => ({ kind: 'topup' as const, ...row })),
    ...(await db.select().from(vpnSubscriptions)).map((row) => ({
      kind: 'vpn_subscription' as const,
      ...row,
      cancelRequested: row.cancelRequestedAt !== null,
    })),
    ...(await db.select().from(cancellations)).map((row) => ({ kind: 'cancellation' as const, ...row })),
  ];
}

export async function readBooks({ database, simulator }: BothSides) {
  const admin = new SimulatorAdmin(simulator);
  const [ledger, sold, webhooks] = await Promise.all([admin.ledger(), admin.orders(), admin.webhooks()]);
  return database.run(async (db) => ({
    work: await readWork(db),
    attempts: await db.select().from(attempts),
    journal: await db.select().from(journal),
    refunds: await db.select().from(refunds),
    esims: await db.select().from(esims),
    openCases: (await db.select().from(cases)).filter(({ closedAt }) => closedAt === null),
    inbox: await db.select().from(inbox),
    ledger: ledger.filter(({ reason }) => !OF_OTHERS.has(reason)),
    /** Oldest first, with the movements of others. */
    wallet: ledger,
    sold,
    webhooks,
  }));
}

/** True if work has ended or is an active subscription. */
export function isSettled(status: WorkStatus): boolean {
  return isFinal(status) || status === 'active';
}

/** True if work is settled or waits for a person. */
export function isAtRest(status: WorkStatus): boolean {
  return isSettled(status) || status === 'needs_attention';
}
