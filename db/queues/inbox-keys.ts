/** Keys by which workflows name inbox rows. */
import { and, inArray, isNotNull, sql, type SQL } from 'drizzle-orm';
import { inbox } from '#db/schema.ts';

/** Hexadecimal digits of the body hash in a key: with the id, 64 bits distinguish two bodies. */
const HASH_DIGITS = 16;

/**
 * The key of a row, such as `17.6b86b273ff34fce1`. After a loss of commits PostgreSQL assigns the ids of lost rows
 * again: the hash of the body keeps a workflow from taking another report for the one that it has handled.
 */
export function inboxKey({ id, bodyHash }: { readonly id: bigint; readonly bodyHash: Buffer }): string {
  return `${id}.${bodyHash.toString('hex').slice(0, HASH_DIGITS)}`;
}

/**
 * Condition for the rows of these keys. A row that is not judged (any more) does not match: its report is not stored,
 * so no workflow has handled it.
 *
 * @param keys not empty.
 * @throws SyntaxError for an invalid key.
 */
export function isAnsweredBy(keys: readonly string[]): SQL | undefined {
  const named = keys.map((key) => {
    const [id = '', hash = ''] = key.split('.');
    return { id: BigInt(id), hash };
  });
  const pairs = sql.join(
    named.map(({ id, hash }) => sql`(${id}::bigint, ${hash}::text)`),
    sql`, `,
  );
  return and(
    inArray(
      inbox.id,
      named.map(({ id }) => id),
    ),
    sql`(${inbox.id}, left(encode(${inbox.bodyHash}, 'hex'), ${sql.raw(String(HASH_DIGITS))})) in (${pairs})`,
    isNotNull(inbox.decision),
  );
}
