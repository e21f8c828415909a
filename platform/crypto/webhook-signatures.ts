import { createHmac, randomBytes as systemRandomBytes, timingSafeEqual } from 'node:crypto';
import { WEBHOOK_TOLERANCE_SECONDS } from '#domain/service/service-address.ts';

/** Shown in metrics and logs. The answer is always 401 without the reason. */
export type WebhookRefusal =
  | 'timestamp_missing'
  | 'timestamp_malformed'
  | 'timestamp_out_of_tolerance'
  | 'signature_missing'
  | 'signature_malformed'
  | 'no_accepted_secret'
  | 'signature_mismatch';

export type WebhookVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: WebhookRefusal };

export interface AcceptedSecret {
  readonly secret: string;
  /** During a rotation, epoch milliseconds, inclusive. */
  readonly acceptedUntil?: number;
}

export interface SignedDelivery {
  readonly timestampHeader: string | undefined;
  /** Node joins repeated headers with commas; that is refused as malformed. */
  readonly signatureHeader: string | undefined;
  /** Exactly as received, before any decoding. */
  readonly rawBody: Uint8Array;
  readonly secrets: readonly AcceptedSecret[];
  readonly now: number;
  /** That of the specification unless it is shorter. */
  readonly toleranceMs?: number;
}

/** Lasts until the year 33658; exact in a number. */
const UNIX_SECONDS = /^[0-9]{1,12}$/;
const SIGNATURE = /^v1=([0-9a-f]{64})$/;

/**
 * Signature rules 1 to 4 of the specification: `v1=` and the lowercase hexadecimal HMAC-SHA-256 of timestamp, full stop
 * and raw body. Timestamps are whole seconds, the clock has milliseconds: one millisecond more than the tolerance is
 * refused. Does not check for duplicates (rule 5): the transaction that stores the delivery does.
 */
export function verifyWebhook(delivery: SignedDelivery): WebhookVerdict {
  const { timestampHeader, signatureHeader, rawBody, secrets, now } = delivery;

  const refusal = refusalOfHeaders(delivery);
  if (refusal !== undefined || timestampHeader === undefined) return refuse(refusal ?? 'timestamp_missing');
  const accepted = secrets.filter((candidate) => isAccepted(candidate, now));
  if (accepted.length === 0) return refuse('no_accepted_secret');

  const received = Buffer.from(SIGNATURE.exec(signatureHeader ?? '')?.[1] ?? '', 'hex');
  let matches = false;
  // Also after a match: the time must not reveal which secret matched.
  for (const { secret } of accepted) {
    const expected = digestOf(secret, timestampHeader, rawBody);
    matches = timingSafeEqual(expected, received) || matches;
  }
  return matches ? { ok: true } : refuse('signature_mismatch');
}

/** Called before the body is read. @returns the reason to refuse; undefined when the body decides. */
export function refusalOfHeaders({
  timestampHeader,
  signatureHeader,
  now,
  toleranceMs = WEBHOOK_TOLERANCE_SECONDS * 1_000,
}: Omit<SignedDelivery, 'rawBody' | 'secrets'>): WebhookRefusal | undefined {
  if (timestampHeader === undefined) return 'timestamp_missing';
  if (!UNIX_SECONDS.test(timestampHeader)) return 'timestamp_malformed';
  const distanceMs = Math.abs(now - Number(timestampHeader) * 1_000);
  // The negation also refuses when `now` is NaN.
  if (!(distanceMs <= toleranceMs)) return 'timestamp_out_of_tolerance';
  if (signatureHeader === undefined) return 'signature_missing';
  return SIGNATURE.test(signatureHeader) ? undefined : 'signature_malformed';
}

/** Signs as the service does (Signature rules 1 and 2). @param timestamp in seconds. @throws RangeError */
export function signWebhook(secret: string, timestamp: string, rawBody: Uint8Array): string {
  if (secret === '') throw new RangeError('the secret is empty');
  if (!UNIX_SECONDS.test(timestamp)) throw new RangeError('the timestamp must be Unix time in seconds, digits only');
  return `v1=${digestOf(secret, timestamp, rawBody).toString('hex')}`;
}

function digestOf(secret: string, timestamp: string, rawBody: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(timestamp).update('.').update(rawBody).digest();
}

function refuse(reason: WebhookRefusal): WebhookVerdict {
  return { ok: false, reason };
}

/** With an empty secret anyone could sign. */
function isAccepted({ secret, acceptedUntil }: AcceptedSecret, now: number): boolean {
  return secret !== '' && (acceptedUntil === undefined || now <= acceptedUntil);
}

/** By the Standard Webhooks specification, version 1. */

const PREFIX = 'whsec_';
/** The specification requires 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** `whsec_…`. @param randomBytes cryptographic; tests pass their own. */
export function generateWebhookSecret(randomBytes: (size: number) => Uint8Array = systemRandomBytes): string {
  return `${PREFIX}${Buffer.from(randomBytes(SECRET_BYTES)).toString('base64')}`;
}

/** @throws RangeError without a secret, or with one that is not of the form `whsec_…`. */
export function standardWebhookHeaders(webhook: {
  /** The same for all tries, so that receivers detect repetitions. */
  readonly id: string;
  readonly at: Date;
  readonly body: Uint8Array;
  /** During a rotation also the former one, so that receivers can change over. */
  readonly secrets: readonly string[];
}): Record<string, string> {
  const { id, at, body, secrets } = webhook;
  if (secrets.length === 0) throw new RangeError('a delivery cannot be signed without a secret');
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const digest = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64');
    return `v1,${digest}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  if (!secret.startsWith(PREFIX) || key.length < 24) throw new RangeError('this is not a webhook secret');
  return key;
}
