/**
 * Invariants when no work is in progress: each order has at most one debit, our journal equals the service's ledger,
 * and no accepted order and no acknowledged webhook is lost.
 */
import { inbox, outbox } from '#db/schema.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { readWork, readBooks, isSettled, type BothSides } from '#test/support/work/books/both-sides.ts';
import {
  lostOrders,
  openEnds,
  costs,
  movements,
  refundedMoney,
  deliveries,
  lostWebhooks,
} from '#test/support/work/books/differences.ts';

export interface BooksOptions {
  /** Ids of work that our API accepted with 202. */
  readonly accepted?: readonly string[];
  /**
   * Ids of work that needs attention and whose wallet movements cannot be known. The journal may lack movements of this
   * work; all other invariants are checked.
   */
  readonly unsettled?: readonly string[];
  /** How many of its oldest rows the wallet lists; null: all. A debit below them, with its credit, is never seen. */
  readonly listsOldest?: number | null;
  /** How long to wait until no work is in progress. */
  readonly timeoutMs?: number;
  /** Whether a commit somewhere between two times may be lost, because PostgreSQL was set back. */
  readonly mayBeLost?: (fromMs: number, toMs: number) => boolean;
}

// The rows of a killed relay are taken again after 30 s. A reconciler that was killed with its worker runs again after
// 60 s.
const QUIET_MS = 220_000;

/** Waits until no work is in progress, then compares both sides. @throws Error that lists every difference. */
export async function checkBooks(stack: BothSides, options: BooksOptions = {}): Promise<void> {
  const differences = await auditBooks(stack, options);
  if (differences.length === 0) return;
  const list = differences.map((each) => `- ${each}`).join('\n');
  throw new Error(`the books differ in ${differences.length} points:\n${list}`);
}

/** Like {@link checkBooks}. @returns the differences, as sentences. */
export async function auditBooks(stack: BothSides, options: BooksOptions = {}): Promise<string[]> {
  const restless = await becomeQuiet(stack, options.timeoutMs ?? QUIET_MS);
  const books = await readBooks(stack);
  return [
    ...restless,
    ...lostOrders(books, options.accepted ?? []),
    ...openEnds(books),
    ...costs(books),
    ...movements(books, options),
    ...refundedMoney(books),
    ...deliveries(books),
    ...lostWebhooks(books, options),
  ];
}

/** Waits until no work is in progress. @returns a sentence for everything still in progress after the time. */
export async function becomeQuiet({ database, simulator }: BothSides, timeoutMs: number = QUIET_MS): Promise<string[]> {
  const admin = new SimulatorAdmin(simulator);
  const underWay = async (): Promise<string[]> => {
    const [rows, waiting, entries] = await database.run((db) =>
      Promise.all([readWork(db), db.select().from(outbox), db.select().from(inbox)]),
    );
    const open = rows.filter(
      ({ status, cancelRequested }) =>
        (!isSettled(status) || (status === 'active' && cancelRequested === true)) && status !== 'needs_attention',
    );
    const reports = entries.filter(({ state }) => state === 'pending' || state === 'relayed');
    const unsent = (await admin.webhooks()).filter(({ status }) => status === 'pending');
    return [
      ...open.map(({ kind, id, status }) => `${kind} ${id} is still ${status}`),
      ...waiting
        .filter(({ quarantinedAt }) => quarantinedAt === null)
        .map(
          ({ subjectId, tries, lastError }) =>
            `the start of ${subjectId} waits (${tries} tries, ${lastError ?? 'no error'})`,
        ),
      ...reports.map(
        ({ id, event, state, subjectId, lastError }) =>
          `inbox row ${id} (${event}, ${subjectId ?? 'unmatched'}) is still ${state}: ${lastError ?? 'no error'}`,
      ),
      ...unsent.map(({ id, event }) => `the service still tries to deliver ${event} (${id})`),
    ];
  };
  try {
    await waitFor('no work is in progress', async () => (await underWay()).length === 0, { timeoutMs, everyMs: 200 });
    return [];
  } catch {
    return underWay();
  }
}
