import { and, desc, eq, getTableColumns, gt, isNull, lt, or, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { apiKeys } from '#db/schema.ts';
import { moneyOf, type Money } from '#domain/money/money.ts';
import { KINDS, WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';

export type ApiKeyRow = typeof apiKeys.$inferSelect;

/** A minute shows which keys are in use and saves a write per request. */
const USE_NOTED_EVERY_MS = 60_000;

export function lineageOf({ id, lineageId }: Pick<ApiKeyRow, 'id' | 'lineageId'>): string {
  return lineageId ?? id;
}

export async function findApiKey(db: Executor, prefix: string): Promise<ApiKeyRow | undefined> {
  const [row] = await db.select().from(apiKeys).where(eq(apiKeys.prefix, prefix));
  return row;
}

export async function findApiKeyById(db: Executor, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await db.select().from(apiKeys).where(eq(apiKeys.id, id));
  return row;
}

export function isUseDue(key: ApiKeyRow, now: Date): boolean {
  return key.lastUsedAt === null || key.lastUsedAt.getTime() < now.getTime() - USE_NOTED_EVERY_MS;
}

/** Writes at most once a minute over all processes. */
export async function noteApiKeyUse(db: Executor, id: string, now: Date): Promise<void> {
  const before = new Date(now.getTime() - USE_NOTED_EVERY_MS);
  await db
    .update(apiKeys)
    .set({ lastUsedAt: now })
    .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, before))));
}

export type NewApiKey = Pick<ApiKeyRow, 'name' | 'prefix' | 'hash'> &
  Partial<Pick<ApiKeyRow, 'expiresAt' | 'rateLimit' | 'ownWorkOnly'>> & {
    readonly scopes: readonly ApiScope[];
    readonly spendLimit?: Money;
  };

/** Of its lineage; undefined: no limit of its own. */
export function spendLimitOf(key: Pick<ApiKeyRow, 'spendLimitAmount' | 'spendLimitCurrency'>): Money | undefined {
  return moneyOf(key.spendLimitAmount, key.spendLimitCurrency);
}

export async function addApiKey(db: Executor, { scopes, spendLimit, ...key }: NewApiKey): Promise<string> {
  const id = newId('apiKey');
  const limit = { spendLimitAmount: spendLimit?.amount, spendLimitCurrency: spendLimit?.currency };
  await db.insert(apiKeys).values({ ...key, ...limit, id, scopes: [...scopes] });
  return id;
}

async function notifyChange(db: Executor): Promise<void> {
  await db.execute(sql`notify api_keys`);
}

export type KeyChange = { readonly ok: true; readonly id: string } | { readonly ok: false };

export async function revokeApiKey(db: Executor, prefix: string, now: Date): Promise<KeyChange> {
  const [revoked] = await db
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(and(eq(apiKeys.prefix, prefix), isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id });
  await notifyChange(db);
  return revoked === undefined ? { ok: false } : { ok: true, id: revoked.id };
}

/** Locks until the transaction ends. @returns false when it is revoked already. */
export async function lockUnrevokedKey(tx: Executor, id: string): Promise<boolean> {
  const unrevoked = and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt));
  return (await tx.select({ id: apiKeys.id }).from(apiKeys).where(unrevoked).for('share')).length > 0;
}

export type RotationRefusal = 'unknown' | 'revoked' | 'expired' | { readonly rotatedTo: string };
type Rotation =
  | { readonly ok: true; readonly id: string; readonly formerExpiresAt: Date; readonly expiresAt: Date | null }
  | { readonly ok: false; readonly refusal: RotationRefusal };

/**
 * The former key works until the overlap or its own expiry ends. @param successor.expiresAt absent: as for the former.
 */
export async function rotateApiKey(
  tx: Executor,
  prefix: string,
  successor: { readonly prefix: string; readonly hash: Buffer; readonly expiresAt?: Date },
  { overlapMs, now }: { readonly overlapMs: number; readonly now: Date },
): Promise<Rotation> {
  const [former] = await tx.select().from(apiKeys).where(eq(apiKeys.prefix, prefix)).for('update');
  if (former === undefined) return { ok: false, refusal: 'unknown' };
  if (former.revokedAt !== null) return { ok: false, refusal: 'revoked' };
  if (former.expiresAt !== null && former.expiresAt <= now) return { ok: false, refusal: 'expired' };
  const lineageId = lineageOf(former);
  const [newer] = await tx
    .select({ prefix: apiKeys.prefix })
    .from(apiKeys)
    .where(and(eq(apiKeys.lineageId, lineageId), gt(apiKeys.createdAt, former.createdAt), isNull(apiKeys.revokedAt)))
    .orderBy(desc(apiKeys.createdAt))
    .limit(1);
  if (newer !== undefined) return { ok: false, refusal: { rotatedTo: newer.prefix } };

  const id = newId('apiKey');
  const lifeMs = former.expiresAt === null ? undefined : former.expiresAt.getTime() - former.createdAt.getTime();
  const expiresAt = successor.expiresAt ?? (lifeMs === undefined ? null : new Date(now.getTime() + lifeMs));
  const { name, scopes, ownWorkOnly, rateLimit, spendLimitAmount, spendLimitCurrency } = former;
  const kept = { name, scopes, ownWorkOnly, rateLimit, spendLimitAmount, spendLimitCurrency };
  const { prefix: newPrefix, hash } = successor;
  await tx.insert(apiKeys).values({ ...kept, id, prefix: newPrefix, hash, lineageId, createdAt: now, expiresAt });
  const overlapEnds = new Date(now.getTime() + overlapMs);
  const formerExpiresAt = former.expiresAt !== null && former.expiresAt < overlapEnds ? former.expiresAt : overlapEnds;
  await tx.update(apiKeys).set({ expiresAt: formerExpiresAt }).where(eq(apiKeys.id, former.id));
  await notifyChange(tx);
  return { ok: true, id, formerExpiresAt, expiresAt };
}

/** The limit belongs to the lineage; null: no limit of its own. Not ok when the key does not exist. */
export async function changeSpendLimit(db: Executor, prefix: string, limit: Money | null): Promise<KeyChange> {
  const { amount, currency } = limit ?? { amount: null, currency: null };
  return changeLineage(db, prefix, { spendLimitAmount: amount, spendLimitCurrency: currency });
}

/** The limit belongs to the lineage. Not ok when the key does not exist. @param perMinute null: as configured. */
export async function changeRateLimit(db: Executor, prefix: string, perMinute: number | null): Promise<KeyChange> {
  return changeLineage(db, prefix, { rateLimit: perMinute });
}

async function changeLineage(
  db: Executor,
  prefix: string,
  change: Partial<Pick<ApiKeyRow, 'spendLimitAmount' | 'spendLimitCurrency' | 'rateLimit'>>,
): Promise<KeyChange> {
  const named = await findApiKey(db, prefix);
  if (named === undefined) return { ok: false };
  const lineage = lineageOf(named);
  const ofLineage = or(eq(apiKeys.id, lineage), eq(apiKeys.lineageId, lineage));
  await db.update(apiKeys).set(change).where(ofLineage);
  await notifyChange(db);
  return { ok: true, id: named.id };
}

export async function listApiKeys(db: Executor): Promise<Omit<ApiKeyRow, 'hash'>[]> {
  const { hash: _, ...shown } = getTableColumns(apiKeys);
  return db.select(shown).from(apiKeys).orderBy(apiKeys.createdAt, apiKeys.id);
}

type WorkScope = `${(typeof KINDS)[WorkKind]['scope']}:${'read' | 'write' | 'operate'}`;

export function scopesOfKind(kind: WorkKind): Readonly<Record<'read' | 'write' | 'operate', WorkScope>> {
  const { scope } = KINDS[kind];
  return { read: `${scope}:read`, write: `${scope}:write`, operate: `${scope}:operate` };
}

const workScopes = WORK_KINDS.flatMap((kind) => {
  const { noun, isPurchase } = KINDS[kind];
  const { read, write, operate } = scopesOfKind(kind);
  const actions = isPurchase
    ? `Retry, release and abandon ${noun}s, resolve their cases, and change their price limit`
    : `Retry and abandon ${noun}s, and resolve their cases`;
  return [
    [read, `Read ${noun}s and their timelines.`],
    [write, `Create ${noun}s${isPurchase ? ': spends money' : ''}.`],
    [operate, `${actions}: for operators. Each action is audited.`],
  ];
});

export const API_SCOPES = {
  ...(Object.fromEntries(workScopes) as Record<WorkScope, string>),
  'cancellations:read': 'Read cancellations, refunds and their timelines.',
  'cancellations:write': 'Cancel eSIMs: the customer loses them.',
  'vpn:read': 'Read VPN plans, subscriptions and their timelines.',
  'vpn:write': 'Order VPN subscriptions, which spends money, and cancel them.',
  'vpn:reveal': "Read access data: their holder can use the customer's VPN. Each read is audited.",
  'gate:read': 'Read the purchase gate: circuits, pauses, what is reserved, spent and held.',
  'gate:operate': 'Pause buying, and release a pause: for operators. Each action is audited.',
  'cases:operate':
    'List and read what waits for a person, and close cases about deliveries: for operators. Each action is audited.',
  'audit:read': 'Read the audit log: who did what, when and why.',
  'esims:read': 'Read eSIMs and their installation facts.',
  'esims:write': 'Change the customer reference of eSIMs, and simulate phones in the sandbox. Each change is audited.',
  'esims:reveal':
    'Read activation codes and QR codes, and make and revoke share links to them: their holder can install the eSIM. ' +
    'Each read is audited.',
  'packages:read': 'Read packages, the prices charged to the reseller, and suggested selling prices.',
  'pricing:read': 'Read the rules that suggest selling prices, and try others.',
  'pricing:write': 'Make, change and end these rules. Each change is audited.',
  'events:read': 'Read events of everything, also as a stream.',
  'wallet:read': 'Read the wallet at the service.',
  'updates:read': 'Check for updates of the storefront application.',
  'webhook_endpoints:read': 'Read webhook endpoints and what was delivered to them.',
  'webhook_endpoints:write':
    'Create, change, test, replay and delete webhook endpoints: decides who receives events. Each action is audited.',
  'service:admin':
    'Create and rotate the webhook secret at the service. For administration only; each change is audited.',
} as const;

export type ApiScope = keyof typeof API_SCOPES;

export const apiScopes = Object.keys(API_SCOPES) as readonly ApiScope[];
