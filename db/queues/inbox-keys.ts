/** How a workflow names rows of the inbox. */
import { and, inArray, isNotNull, sql, type SQL } from 'drizzle-orm';
import { inbox } from '#db/schema.ts';

/** Hexadecimal digits of the hash of the body in a key: with the id, 64 bits tell two bodies apart. */
const HASH_DIGITS = 16;

/**
 * The name of a row, such as `17.6b86b273ff34fce1`. PostgreSQL, set back, gives the ids of lost rows out again: the
 * hash of the body keeps a workflow from taking another report for the one that it has answered.
 */
export function inboxKey({ id, bodyHash }: { readonly id: bigint; readonly bodyHash: Buffer }): string {
  return `${id}.${bodyHash.toString('hex').slice(0, HASH_DIGITS)}`;
}

/**
 * The rows that these keys name. A row that is not judged (any more) is none of them: its facts are not stored, so
 * nobody has answered it.
 *
 * @param keys not empty. @throws SyntaxError when one is no key.
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
