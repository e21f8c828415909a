import { actor, inDatabase } from '#cli/set-up/command-database.ts';
import { type Columns, flexible, money, status, text, time } from '#cli/terminal/columns.ts';
import { printLine } from '#cli/terminal/output.ts';
import { type FormatOptions, printItems } from '#cli/terminal/print-items.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';
import { commaList, price } from '#config/variable-types.ts';
import { apiKeyMode, generateApiKey } from '#crypto/generated-secrets.ts';
import {
  addApiKey,
  API_SCOPES,
  type ApiScope,
  apiScopes,
  changeRateLimit,
  changeSpendLimit,
  findApiKey,
  type KeyChange,
  lineageOf,
  listApiKeys,
  type NewApiKey,
  revokeApiKey,
  rotateApiKey,
  type RotationRefusal,
} from '#db/access/api-keys.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { stampedMode } from '#db/connection/installation.ts';
import { type Money, plainMoney } from '#domain/money/money.ts';
import { counted } from '#domain/text.ts';
import { usableBalance } from '#fulfilment/gate/account.ts';
import { revokeShareLinksOfKey } from '#fulfilment/share-links/share-links.ts';

const DAY_MS = 86_400_000;
const ALL = 'all';
/** Shown in `pg_stat_activity`. */
const APPLICATION = 'reseller keys';

export interface NewKeyOptions {
  /** `all`, or names with commas between them. */
  readonly scopes?: string;
  readonly expires?: number;
  readonly spendLimit?: string;
  readonly rateLimit?: number;
  readonly ownWorkOnly?: boolean;
}

/** Prints the key alone to standard output, and its description to standard error. */
export async function createKey(name: string, options: NewKeyOptions, environment: Environment): Promise<void> {
  if (name.trim() === '') {
    throw new UserError('The key has no name.', 'Name the system that will use it: `keys list` shows this name.');
  }
  const scopes = scopesOf(options.scopes);
  const { ownWorkOnly = false, rateLimit } = options;
  const spendLimit = options.spendLimit === undefined ? undefined : limitOf(options.spendLimit);
  const expiresAt = inDays(options.expires, new Date());
  const limits = {
    ownWorkOnly,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(spendLimit != null && { spendLimit }),
    ...(rateLimit !== undefined && { rateLimit }),
  };
  const { key, prefix } = await changing(environment, async (tx) => {
    await requireWalletCurrency(tx, spendLimit);
    const which = ownWorkOnly ? ', for its own work only' : '';
    const detail = `${name}: ${scopes.join(', ')}${which}`;
    return await addKey(tx, { name, scopes, ...limits }, detail, environment['SERVICE_MODE']);
  });
  const described = [
    `scopes: ${scopes.join(', ')}`,
    ...(ownWorkOnly ? ['limited to its own work'] : []),
    ...(spendLimit == null ? [] : [`spends at most ${spendLimit.amount} ${spendLimit.currency} a day`]),
    ...(rateLimit === undefined ? [] : [`${counted(rateLimit, 'request')} a minute`]),
    ...(expiresAt === undefined ? [] : [`until ${expiresAt.toISOString()}`]),
  ];
  printLine(process.stderr, `Key ${prefix} for ${name}, printed only this once; ${described.join('; ')}`);
  process.stdout.write(`${key}\n`);
}

export async function listKeys(format: FormatOptions, environment: Environment): Promise<void> {
  const keys = await inDatabase(environment, APPLICATION, (database) => database.run(listApiKeys));
  const now = new Date();
  // Successors follow the key that they replace.
  const listed = [...Map.groupBy(keys, lineageOf).values()].flatMap((line) =>
    line.map((key, index) => listedKey(key, now, line[index - 1]?.prefix)),
  );
  const context = { output: process.stdout, environment: process.env, none: 'There are no keys.' };
  printItems(format, COLUMNS, listed, context);
}

/** `id` is what `created_by` and `actor` show. Contains no secret. */
const COLUMNS: Columns<ReturnType<typeof listedKey>> = {
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

type Key = Awaited<ReturnType<typeof listApiKeys>>[number];

function listedKey(key: Key, now: Date, successorOf: string | undefined) {
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
    spend_limit: plainMoney(key.spendLimitAmount, key.spendLimitCurrency),
    rate_limit: rateLimit,
    scopes,
    id,
  };
}

/** Prints the successor alone to standard output. */
export async function rotateKey(
  prefix: string,
  options: { readonly overlap: number; readonly expires?: number },
  environment: Environment,
): Promise<void> {
  const now = new Date();
  const expiresAt = inDays(options.expires, now);
  const rotated = await changing(environment, async (tx) => {
    const { key, ...generated } = await newKey(tx, environment['SERVICE_MODE']);
    const successor = { ...generated, ...(expiresAt !== undefined && { expiresAt }) };
    const result = await rotateApiKey(tx, prefix, successor, { overlapMs: options.overlap, now });
    if (!result.ok) throw refusal(prefix, result.refusal);
    const detail = `successor of ${prefix}, which works until ${result.formerExpiresAt.toISOString()}`;
    await audit(tx, result.id, 'rotate', detail, now);
    return { ...result, key, prefix: generated.prefix };
  });
  const until = rotated.expiresAt === null ? '' : `, valid until ${rotated.expiresAt.toISOString()}`;
  process.stderr.write(
    `Key ${rotated.prefix}, printed only this once${until}. It takes over the work of ${prefix}; ` +
      `${prefix} works until ${rotated.formerExpiresAt.toISOString()}.\n`,
  );
  process.stdout.write(`${rotated.key}\n`);
}

/** @param limit `100.00 USD`, or `none`. */
export async function limitKey(prefix: string, limit: string, environment: Environment): Promise<void> {
  const spendLimit = limitOf(limit);
  await change(environment, prefix, { action: 'change_spend_limit', detail: limit }, async (tx) => {
    await requireWalletCurrency(tx, spendLimit);
    return await changeSpendLimit(tx, prefix, spendLimit);
  });
  process.stdout.write(
    spendLimit === null
      ? `Key ${prefix} has no daily limit of its own.\n`
      : `Key ${prefix} may spend ${limit} a day (UTC).\n`,
  );
}

/** @param limit requests a minute; null for that of the configuration. */
export async function limitKeyRate(prefix: string, limit: number | null, environment: Environment): Promise<void> {
  const detail = limit === null ? 'none' : `${limit} a minute`;
  await change(environment, prefix, { action: 'change_rate_limit', detail }, (tx) =>
    changeRateLimit(tx, prefix, limit),
  );
  process.stdout.write(
    limit === null
      ? `Key ${prefix} has the limit of API_RATE_LIMIT.\n`
      : `Key ${prefix} may make ${counted(limit, 'request')} a minute.\n`,
  );
}

/** Its open share links end with it, unless kept: a thief of the key may have them. */
export async function revokeKey(
  prefix: string,
  { shareLinks: closes }: { readonly shareLinks: boolean },
  environment: Environment,
): Promise<void> {
  let closed = 0;
  await change(environment, prefix, { action: 'revoke' }, async (tx) => {
    const now = new Date();
    const revoked = await revokeApiKey(tx, prefix, now);
    const key = closes && revoked.ok ? await findApiKey(tx, prefix) : undefined;
    closed = key === undefined ? 0 : await revokeShareLinksOfKey(tx, key, { actor: actor(), now });
    return revoked;
  });
  const links = closes ? `Revoked with it: ${counted(closed, 'open share link')}` : 'Its share links stay open';
  process.stdout.write(`Key ${prefix} is revoked. ${links}.\n`);
}

async function change(
  environment: Environment,
  prefix: string,
  { action, detail }: { readonly action: string; readonly detail?: string },
  work: (tx: Executor) => Promise<KeyChange>,
): Promise<void> {
  await changing(environment, async (tx) => {
    const changed = await work(tx);
    if (!changed.ok) {
      const what = action === 'revoke' ? 'valid key' : 'key';
      throw new UserError(
        `There is no ${what} with the prefix ${JSON.stringify(prefix)}.`,
        '`npx reseller keys list` shows the prefixes.',
      );
    }
    await audit(tx, changed.id, action, detail, new Date());
  });
}

async function audit(tx: Executor, id: string, action: string, detail: string | undefined, now: Date): Promise<void> {
  const entry = { actor: actor(), action: `api_key.${action}`, subject: { kind: 'api_key', id } } as const;
  await addAuditEntry(tx, detail === undefined ? entry : { ...entry, reason: detail }, now);
}

function refusal(prefix: string, reason: RotationRefusal): UserError {
  const advice = '`npx reseller keys list` shows the keys.';
  if (typeof reason === 'object') {
    return new UserError(
      `Key ${prefix} was rotated before.`,
      `Rotate its successor ${reason.rotatedTo}. If the successor was lost, revoke it first.`,
    );
  }
  if (reason === 'unknown') return new UserError(`There is no key with the prefix ${JSON.stringify(prefix)}.`, advice);
  return new UserError(
    `Key ${prefix} is ${reason}, so it cannot be rotated.`,
    `Make a new one with \`npx reseller keys create\`. ${advice}`,
  );
}

function limitOf(text: string): Money | null {
  if (text === 'none') return null;
  const parsed = price().safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UserError(
    `${JSON.stringify(text)} is not a daily limit.`,
    'Write an amount such as "100.00 USD", or none.',
  );
}

/** Another currency than the wallet's would hold every purchase. Before the first reading it is not known. */
async function requireWalletCurrency(tx: Executor, limit: Money | null | undefined): Promise<void> {
  const reading = limit == null ? undefined : await usableBalance(tx);
  if (limit == null || reading === undefined || reading.balance.currency === limit.currency) return;
  const { currency } = reading.balance;
  throw new UserError(
    `The wallet is in ${currency}, so a limit in ${limit.currency} would hold every purchase.`,
    `Give the limit in ${currency}.`,
  );
}

function inDays(days: number | undefined, now: Date): Date | undefined {
  return days === undefined ? undefined : new Date(now.getTime() + days * DAY_MS);
}

function scopesOf(list: string | undefined): readonly ApiScope[] {
  const names = commaList(list ?? '');
  if (names.length === 0) {
    throw new UserError(
      'The key has no scopes.',
      `Add --scopes with a comma-separated list of: ${apiScopes.join(', ')}; or --scopes ${ALL}.`,
    );
  }
  if (names.length === 1 && names[0] === ALL) return apiScopes;
  const unknown = names.filter((name) => !Object.hasOwn(API_SCOPES, name));
  if (unknown.length > 0) {
    throw new UserError(
      `Unknown scopes: ${unknown.join(', ')}.`,
      `The scopes are: ${apiScopes.join(', ')}; or ${ALL} alone.`,
    );
  }
  return names as ApiScope[];
}

/** A new key with its audit entry. @param detail for the audit log. @param mode of the service before the first use. */
export async function addKey(tx: Executor, key: Omit<NewApiKey, 'prefix' | 'hash'>, detail: string, mode?: string) {
  const made = await newKey(tx, mode);
  const id = await addApiKey(tx, { ...key, prefix: made.prefix, hash: made.hash });
  await audit(tx, id, 'create', detail, new Date());
  return made;
}

/** A key has the mode of the database's service. */
async function newKey(tx: Executor, mode: string | undefined) {
  return generateApiKey(apiKeyMode((await stampedMode(tx)) ?? mode));
}

async function changing<Result>(environment: Environment, work: (tx: Executor) => Promise<Result>): Promise<Result> {
  return await inDatabase(environment, APPLICATION, (database) => database.transaction(work));
}
