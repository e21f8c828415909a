import { and, eq, isNull, lt, or } from 'drizzle-orm';
import type { Money } from '#domain/money.ts';
import type { Executor } from '#db/database.ts';
import { newId } from '#db/ids.ts';
import { apiKeys } from '#db/schema.ts';

/** What a key may do, each with the sentence that the documentation shows. */
export const API_SCOPES = {
  'orders:read': 'Read orders and their timelines.',
  'orders:write': 'Create orders: spends money.',
  'orders:operate': 'Retry, release, abandon and judge orders, and change their price limit: for operators. Each act is audited.',
  'topups:read': 'Read top-ups and their timelines.',
  'topups:write': 'Create top-ups: spends money.',
  'topups:operate': 'Retry, release, abandon and judge top-ups, and change their price limit: for operators. Each act is audited.',
  'cancellations:read': 'Read cancellations, refunds and their timelines.',
  'cancellations:write': 'Cancel eSIMs: the customer loses them.',
  'cancellations:operate': 'Retry, abandon and judge cancellations: for operators. Each act is audited.',
  'vpn:read': 'Read VPN plans, subscriptions and their timelines.',
  'vpn:write': 'Order VPN subscriptions, which spends money, and cancel them.',
  'vpn:operate': 'Retry, release, abandon and judge VPN subscriptions, and change their price limit: for operators. Each act is audited.',
  'vpn:reveal': "Read access data: whoever holds them can use the customer's VPN. Each read is audited.",
  'gate:read': 'Read the purchase gate: circuits, pauses, what is reserved, spent and held.',
  'gate:operate': 'Pause buying, and release a pause: for operators. Each act is audited.',
  'cases:operate': 'List what waits for a person, and close cases about deliveries: for operators. Each act is audited.',
  'esims:read': 'Read eSIMs and their installation facts.',
  'esims:reveal': 'Read activation codes and QR codes: whoever holds one can install the eSIM. Each read is audited.',
  'packages:read': 'Read packages and the prices charged to the reseller.',
  'events:read': 'Read events of everything, also as a stream.',
  'wallet:read': 'Read the wallet at the service.',
  'updates:read': 'Check for updates of the storefront application.',
  'service:admin': 'Create and rotate the webhook secret at the service. For administration only; each change is audited.',
} as const;

export type ApiScope = keyof typeof API_SCOPES;

export const apiScopes = Object.keys(API_SCOPES) as readonly ApiScope[];

export type ApiKeyRow = typeof apiKeys.$inferSelect;

/** How fine the time of last use is: once a minute is enough to see which keys are in use, and costs no write per request. */
const USE_NOTED_EVERY_MS = 60_000;

/** Finds a key by the public part that {@link parseApiKey} reads from it. */
export async function findApiKey(db: Executor, prefix: string): Promise<ApiKeyRow | undefined> {
  const [row] = await db.select().from(apiKeys).where(eq(apiKeys.prefix, prefix));
  return row;
}

/** True when {@link noteApiKeyUse} would write. */
export function isUseDue(key: ApiKeyRow, now: Date): boolean {
  return key.lastUsedAt === null || key.lastUsedAt.getTime() < now.getTime() - USE_NOTED_EVERY_MS;
}

/** Notes that a key was used, at most once a minute however many processes note it. */
export async function noteApiKeyUse(db: Executor, id: string, now: Date): Promise<void> {
  const before = new Date(now.getTime() - USE_NOTED_EVERY_MS);
  await db
    .update(apiKeys)
    .set({ lastUsedAt: now })
    .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, before))));
}

export interface NewApiKey {
  /** For people: which system uses it. */
  readonly name: string;
  readonly prefix: string;
  readonly hash: Buffer;
  readonly scopes: readonly ApiScope[];
  readonly expiresAt?: Date;
  /** The most that is spent in a day (UTC) for its work. */
  readonly spendLimit?: Money;
}

/** Stores a key. @returns its id. */
export async function addApiKey(db: Executor, key: NewApiKey): Promise<string> {
  const id = newId('apiKey');
  await db.insert(apiKeys).values({
    id,
    name: key.name,
    prefix: key.prefix,
    hash: key.hash,
    scopes: [...key.scopes],
    expiresAt: key.expiresAt ?? null,
    spendLimitAmount: key.spendLimit?.amount ?? null,
    spendLimitCurrency: key.spendLimit?.currency ?? null,
  });
  return id;
}

/** Ends the life of a key at once. @returns false when there is no such key or it is revoked already. */
export async function revokeApiKey(db: Executor, prefix: string, now: Date): Promise<boolean> {
  const rows = await db
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(and(eq(apiKeys.prefix, prefix), isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id });
  return rows.length > 0;
}

/** Changes what may be spent in a day for work of a key; null: no limit of its own. @returns false when there is no such key. */
export async function changeSpendLimit(db: Executor, prefix: string, limit: Money | null): Promise<boolean> {
  const rows = await db
    .update(apiKeys)
    .set({ spendLimitAmount: limit?.amount ?? null, spendLimitCurrency: limit?.currency ?? null })
    .where(eq(apiKeys.prefix, prefix))
    .returning({ id: apiKeys.id });
  return rows.length > 0;
}

/** All keys, oldest first; hashes are not part of it. */
export async function listApiKeys(db: Executor): Promise<Omit<ApiKeyRow, 'hash'>[]> {
  return db
    .select({
      id: apiKeys.id,
      name: apiKeys.name,
      prefix: apiKeys.prefix,
      scopes: apiKeys.scopes,
      createdAt: apiKeys.createdAt,
      expiresAt: apiKeys.expiresAt,
      revokedAt: apiKeys.revokedAt,
      lastUsedAt: apiKeys.lastUsedAt,
      spendLimitAmount: apiKeys.spendLimitAmount,
      spendLimitCurrency: apiKeys.spendLimitCurrency,
    })
    .from(apiKeys)
    .orderBy(apiKeys.createdAt, apiKeys.id);
}
