/** Compares what the foreign service sold with what the product says: each piece of work has at most one open debit. */
import { attempts } from '#db/schema.ts';
import type { Kind } from '#test/foreign/cases.ts';
import type { ForeignService } from '#test/foreign/service/service.ts';
import type { Stack } from '#test/support/servers/stack.ts';

/** What the service's own ledger says about one piece of work. */
export interface Bought {
  readonly debits: number;
  readonly credits: number;
  /** Debits less credits, in cents. */
  readonly cents: number;
}

const NOTHING: Bought = { debits: 0, credits: 0, cents: 0 };

/** The ledger of the service by our work, and by the key of requests that no work knows. */
export async function boughtByWork(stack: Stack, { books }: ForeignService): Promise<ReadonlyMap<string, Bought>> {
  const known = await stack.database.run((db) =>
    db.select({ key: attempts.idempotencyKey, work: attempts.subjectId }).from(attempts),
  );
  const workOf = new Map(known.map(({ key, work }) => [key, work]));
  const bought = new Map<string, Bought>();
  for (const { type, cents, sale, pending } of books.rows) {
    if (sale === undefined || sale.key.startsWith('earlier-') || pending === true) continue;
    const work = workOf.get(sale.key) ?? `unknown key ${sale.key}`;
    const { debits, credits, cents: sum } = bought.get(work) ?? NOTHING;
    const isDebit = type === 'debit';
    bought.set(work, {
      debits: debits + (isDebit ? 1 : 0),
      credits: credits + (isDebit ? 0 : 1),
      cents: sum + (isDebit ? cents : -cents),
    });
  }
  return bought;
}

/** Work as the API shows it. */
interface Shown {
  readonly kind: Kind;
  readonly id: string;
  readonly status: string;
}

/** @returns each violation of the money rules as a sentence. */
export function violations(bought: ReadonlyMap<string, Bought>, works: readonly Shown[]): readonly string[] {
  const found: string[] = [];
  for (const [work, { debits, credits }] of bought) {
    const shown = works.find(({ id }) => id === work);
    if (debits - credits > 1) found.push(`${work} was debited ${debits} times and credited ${credits} times`);
    if (shown === undefined) found.push(`${work} was bought, and no such work was placed`);
    if (shown?.status === 'failed' && debits > credits) found.push(`${work} is failed, and its debit has no credit`);
  }
  for (const { kind, id, status } of works) {
    const isDelivered = kind !== 'cancellation' && (status === 'completed' || status === 'active');
    if (isDelivered && !bought.has(id)) found.push(`${id} is ${status}, and was never debited`);
  }
  return found;
}
