/** What `reseller keys list` prints. */
import { lineageOf, type listApiKeys } from '#db/access/api-keys.ts';

type Key = Awaited<ReturnType<typeof listApiKeys>>[number];

/**
 * One line for each key. The id at the end is what `created_by` and `actor` show. Successors follow the key that they
 * replace.
 */
export function keyLines(keys: readonly Key[], now: Date): string[] {
  const lines = Map.groupBy(keys, lineageOf);
  return [...lines.values()].flatMap((line) => line.map((key, index) => keyLine(key, now, line[index - 1]?.prefix)));
}

function keyLine(key: Key, now: Date, successorOf: string | undefined): string {
  const { id, prefix, name, scopes, lastUsedAt, ownWorkOnly, rateLimit } = key;
  const properties = [
    stateOf(key, now),
    lastUsedAt === null ? 'never used' : `last used ${lastUsedAt.toISOString()}`,
    ...(successorOf === undefined ? [] : [`successor of ${successorOf}`]),
    ...(ownWorkOnly ? ['own work only'] : []),
    ...spendLimit(key),
    ...(rateLimit === null ? [] : [`at most ${rateLimit} requests a minute`]),
  ];
  return `${prefix}  ${name}  ${properties.join(', ')}  ${scopes.join(',')}  ${id}`;
}

function stateOf({ revokedAt, expiresAt }: Key, now: Date): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString()}`;
  if (expiresAt === null) return 'valid';
  return `${expiresAt <= now ? 'expired' : 'expires'} ${expiresAt.toISOString()}`;
}

function spendLimit({ spendLimitAmount: amount, spendLimitCurrency: currency }: Key): string[] {
  if (amount === null || currency === null) return [];
  return [`at most ${amount.replace(/(\.\d{2}\d*?)0+$/, '$1')} ${currency} a day`];
}
