import { type Amount, type Columns, flexible, money, status, text, time } from '#cli/terminal/columns.ts';
import { lineageOf, type listApiKeys } from '#db/access/api-keys.ts';
import { plainMoney } from '#domain/money/money.ts';

type Key = Awaited<ReturnType<typeof listApiKeys>>[number];

/** `id` is what `created_by` and `actor` show. Contains no secret. */
type ListedKey = ReturnType<typeof listed>;

export const KEY_COLUMNS: Columns<ListedKey> = {
  prefix: text((key) => key.prefix),
  name: text((key) => key.name),
  status: status((key) => key.status),
  expires_at: time((key) => key.expires_at),
  revoked_at: time((key) => key.revoked_at),
  last_used_at: time((key) => key.last_used_at),
  successor_of: text((key) => key.successor_of),
  own_work_only: text((key) => key.own_work_only),
  spend_limit: money((key) => key.spend_limit),
  rate_limit: text((key) => key.rate_limit),
  scopes: flexible((key) => key.scopes.join(',')),
  id: text((key) => key.id),
};

/** Successors follow the key that they replace. */
export function listedKeys(keys: readonly Key[], now: Date): ListedKey[] {
  const lines = Map.groupBy(keys, lineageOf);
  return [...lines.values()].flatMap((line) => line.map((key, index) => listed(key, now, line[index - 1]?.prefix)));
}

function listed(key: Key, now: Date, successorOf: string | undefined) {
  const { id, prefix, name, scopes, lastUsedAt, expiresAt, revokedAt, ownWorkOnly, rateLimit } = key;
  return {
    prefix,
    name,
    status: revokedAt !== null ? 'revoked' : expiresAt !== null && expiresAt <= now ? 'expired' : 'valid',
    last_used_at: lastUsedAt?.toISOString() ?? null,
    expires_at: expiresAt?.toISOString() ?? null,
    revoked_at: revokedAt?.toISOString() ?? null,
    successor_of: successorOf ?? null,
    own_work_only: ownWorkOnly,
    spend_limit: spendLimitOf(key),
    rate_limit: rateLimit,
    scopes,
    id,
  };
}

function spendLimitOf({ spendLimitAmount, spendLimitCurrency }: Key): Amount | null {
  const limit = plainMoney(spendLimitAmount, spendLimitCurrency);
  return limit && { ...limit, amount: limit.amount.replace(/(\.\d{2}\d*?)0+$/, '$1') };
}
