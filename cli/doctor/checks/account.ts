import { type Finding, failure, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import { askOnce, withoutStop } from '#cli/service/own-session.ts';
import { duration } from '#cli/terminal/output.ts';
import type { ServiceConfig } from '#config/config.ts';
import { compareMoney } from '#domain/money/money.ts';
import { WEBHOOK_TOLERANCE_SECONDS, serviceAddress } from '#domain/service/service-address.ts';
import { counted } from '#domain/text.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { heldPurchases } from '#fulfilment/readiness/conditions.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';
import type { SharedToken, TokenResult } from '#upstream/client/session.ts';
import type { ServiceWallet } from '#upstream/contract.ts';

/** @param result of a fresh login: the shared token could hide a wrong password. */
export function checkLogin(result: TokenResult, { mode }: ServiceConfig): Finding {
  if (result.ok) return ok(`the service accepts the login (${mode})`);
  return failure(withoutStop(result.detail), FAILURE_CLASSES[result.failure].advice);
}

const DAY_MS = 86_400_000;
// Tokens are renewed at four fifths of their lifetime: a shorter one makes a brief login failure stop purchases.
const SHORT_MS = 10 * 60_000;
/** A service may round the lifetime. Below this share it granted less than we requested. */
const GRANTED_SHARE = 0.9;

export function checkToken({ expiresAt, renewedAt }: SharedToken, { tokenDays }: ServiceConfig): Finding {
  if (expiresAt === undefined) return ok('the service states no expiry; a token that it refuses is renewed');
  const lifetimeMs = expiresAt - renewedAt;
  if (lifetimeMs < SHORT_MS) {
    const advice =
      'Set SERVICE_TOKEN_DAYS (production), or ask the service for longer ones. With this lifetime a brief failure ' +
      'of the login stops purchases.';
    return warning(`${duration(lifetimeMs)} only`, advice);
  }
  if (tokenDays !== undefined && lifetimeMs < tokenDays * DAY_MS * GRANTED_SHARE) {
    const advice = 'Nothing depends on it: tokens are renewed in time. The service may have a maximum.';
    return warning(`${duration(lifetimeMs)}, and SERVICE_TOKEN_DAYS asks for ${counted(tokenDays, 'day')}`, advice);
  }
  return ok(`${duration(lifetimeMs)}, renewed in time`);
}

/**
 * No call says whether we may buy. A refusal as not approved disproves it; a debit in the wallet proves it.
 * @param held 0 if our database cannot be read.
 */
export async function checkApproval(
  client: Pick<ServiceClient, 'listWalletTransactions'>,
  { mode }: ServiceConfig,
  { refused, held }: { readonly refused?: ServiceFailure | undefined; readonly held: number },
): Promise<Finding> {
  if (mode === 'sandbox') return ok('not needed in the sandbox');
  const { advice } = FAILURE_CLASSES.not_approved;
  if (held > 0) return failure(`the service answers purchases with 403; ${heldPurchases(held)} for it`, advice);
  if (refused?.failure === 'not_approved') return notApproved(refused);
  const transactions = await client.listWalletTransactions({ since: 0 });
  if (!transactions.ok) {
    if (transactions.kind === 'failure' && transactions.failure === 'not_approved') return notApproved(transactions);
    return UNKNOWN;
  }
  return transactions.value.items.some(({ type }) => type === 'debit')
    ? ok('the wallet shows a purchase in production')
    : UNKNOWN;
}

/** Other 403s, as of a firewall, do not say that the approval is missing. */
function notApproved({ code, detail }: ServiceFailure): Finding {
  const known = 'the service has not approved this reseller; purchases are held';
  const text = code === 'not_approved' ? known : `${withoutStop(detail)}, without the code not_approved`;
  return failure(text, FAILURE_CLASSES.not_approved.advice);
}

const UNKNOWN = warning(
  'unknown: no read shows it, and the wallet shows no purchase yet',
  'Ask the service. Without the approval purchases are held; they do not fail.',
);

export function checkWallet(result: ServiceResult<ServiceWallet>): Finding {
  if (!result.ok) return failure(withoutStop(result.detail), FAILURE_CLASSES[result.failure].advice);
  const { balance, currency } = result.value;
  const text = `${balance} ${currency}`;
  if (compareMoney({ amount: balance, currency }, { amount: '0', currency }) > 0) return ok(text);
  return warning(text, FAILURE_CLASSES.insufficient_balance.advice);
}

// The header has whole seconds, and the answer needs time to arrive.
const UNREMARKABLE_SECONDS = 30;

export interface ClockOptions {
  readonly now: () => number;
  readonly deadlineMs: number;
  /** The default is that of the specification. */
  readonly webhookToleranceMs?: number | undefined;
}

/** Every answer has a `Date` header, so the read needs no token, and its status does not matter. */
export async function checkClock(
  service: ServiceConfig,
  { now, deadlineMs, webhookToleranceMs = WEBHOOK_TOLERANCE_SECONDS * 1_000 }: ClockOptions,
): Promise<Finding> {
  const { origin, pathname } = new URL(serviceAddress(service.baseUrl, service.mode));
  const headers = { accept: 'application/json' };
  const request = { method: 'GET', path: `${pathname}/wallet`, headers, deadlineMs } as const;
  const sentAt = now();
  const result = await askOnce({ origin, proxy: service.proxy }, request);
  const receivedAt = now();
  if (result.kind === 'no_answer') return notChecked(`the service does not answer (${result.reason})`);
  const theirs = Date.parse(String(result.answer.headers['date'] ?? ''));
  if (Number.isNaN(theirs)) return notChecked('the answers of the service have no Date header');
  return judge(offsetSeconds(theirs, sentAt, receivedAt), webhookToleranceMs / 1_000);
}

/** Negative if our clock is behind. The header's precision (one second) and the time of the call do not count. */
function offsetSeconds(theirs: number, sentAt: number, receivedAt: number): number {
  if (receivedAt < theirs) return Math.ceil((receivedAt - theirs) / 1_000);
  if (sentAt > theirs + 999) return Math.floor((sentAt - theirs - 999) / 1_000);
  return 0;
}

function judge(ahead: number, tolerance: number): Finding {
  const distance = Math.abs(ahead);
  const fact = `ours is ${distance} s ${ahead < 0 ? 'behind' : 'ahead of'} the service's`;
  if (distance <= Math.min(UNREMARKABLE_SECONDS, tolerance))
    return ok(distance === 0 ? "agrees with the service's" : fact);
  const advice = 'Synchronise the clock of this machine (NTP). If it is synchronised, inform the service.';
  if (distance <= tolerance) return warning(`${fact}; above ${tolerance} s webhooks are refused`, advice);
  return failure(`${fact}; its webhooks are refused as stale`, advice);
}
