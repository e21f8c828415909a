import { failure, type Finding, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import type { ServiceConfig } from '#config/config.ts';
import { serviceAddress, WEBHOOK_TOLERANCE_SECONDS } from '#domain/service/service-address.ts';
import { createHttpTransport } from '#upstream/client/http.ts';

// The header has whole seconds, and the answer needs time to arrive.
const UNREMARKABLE_SECONDS = 30;

export interface ClockOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds. */
  readonly deadlineMs: number;
  /** How far the timestamp of a webhook may be from our clock, in milliseconds. Default: that of the specification. */
  readonly webhookToleranceMs?: number | undefined;
}

/**
 * Compares our clock with the service's. Every answer has a `Date` header, so the read is sent without a token, and its
 * status does not matter.
 */
export async function checkClock(
  service: ServiceConfig,
  { now, deadlineMs, webhookToleranceMs = WEBHOOK_TOLERANCE_SECONDS * 1_000 }: ClockOptions,
): Promise<Finding> {
  const { origin, pathname } = new URL(serviceAddress(service.baseUrl, service.mode));
  const transport = createHttpTransport({ origin, proxy: service.proxy });
  try {
    const sentAt = now();
    const result = await transport.send({
      method: 'GET',
      path: `${pathname}/wallet`,
      headers: { accept: 'application/json', 'user-agent': 'reseller-fulfilment' },
      deadlineMs,
    });
    const receivedAt = now();
    if (result.kind === 'no_answer') return notChecked(`the service does not answer (${result.reason})`);
    const theirs = Date.parse(String(result.answer.headers['date'] ?? ''));
    if (Number.isNaN(theirs)) return notChecked('the answers of the service have no Date header');
    return judge(offsetSeconds(theirs, sentAt, receivedAt), webhookToleranceMs / 1_000);
  } finally {
    await transport.close();
  }
}

/**
 * Seconds that our clock is ahead of the service's, negative if behind. The precision of the header (one second) and
 * the time of the call do not count as a difference.
 */
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
