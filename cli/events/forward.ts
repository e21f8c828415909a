/** Sends events to the program of a developer, with the body and the signature of an event webhook. */
import { UserError } from '#cli/terminal/user-error.ts';
import type { Event } from '#clients/typescript/src/index.ts';
import type { Environment } from '#config/environment.ts';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import { OUTBOUND_POLICY } from '#domain/policy/webhook-policy.ts';
import { envelopeBody, webhookHeaders } from '#outbound/event-message.ts';

/** What became of an event. */
interface Forwarded {
  readonly isDelivered: boolean;
  /** The status of the answer, or why there is none. */
  readonly result: string;
  readonly durationMs: number;
}

/** Sends each event once. */
export interface Forwarder {
  /** The secret that signs. */
  readonly secret: string;
  /** Never throws because of the receiver. */
  readonly send: (event: Event, signal: AbortSignal) => Promise<Forwarded>;
}

/**
 * Makes a forwarder. The secret is that of RESELLER_WEBHOOK_SECRET, so that a program can keep its own; otherwise a new
 * one.
 *
 * @throws UserError for an invalid address or secret.
 */
export function forwarder(address: string, environment: Environment): Forwarder {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new UserError(`${JSON.stringify(address)} is not an address.`, 'Use one such as http://127.0.0.1:5000/hook.');
  }
  const secret = environment['RESELLER_WEBHOOK_SECRET'] || generateWebhookSecret();
  requireSecret(secret);
  return {
    secret,
    send: async (event, signal) => {
      const body = envelopeBody(event);
      return await sendSigned(url, { body, headers: webhookHeaders(event, body, [secret], new Date()) }, signal);
    },
  };
}

interface Signed {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws UserError for an invalid secret. */
function requireSecret(secret: string): void {
  try {
    webhookHeaders({ id: '' }, Buffer.alloc(0), [secret], new Date());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UserError(
      'RESELLER_WEBHOOK_SECRET is not a webhook secret.',
      'Unset it, or set it to a secret that begins with whsec_.',
      { cause: error },
    );
  }
}

async function sendSigned(url: URL, { body, headers }: Signed, signal: AbortSignal): Promise<Forwarded> {
  const started = performance.now();
  const limit = AbortSignal.any([signal, AbortSignal.timeout(OUTBOUND_POLICY.sendDeadlineMs)]);
  const ended = (isDelivered: boolean, result: string): Forwarded => ({
    isDelivered,
    result,
    durationMs: Math.round(performance.now() - started),
  });
  try {
    // A redirect counts as a failure, as it does for an endpoint.
    const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal: limit });
    await answer.body?.cancel();
    return ended(answer.ok, String(answer.status));
  } catch (error) {
    return ended(false, reasonOf(error));
  }
}

/** `fetch` wraps the reason. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
