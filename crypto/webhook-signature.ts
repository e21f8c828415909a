import { createHmac, timingSafeEqual } from 'node:crypto';
import { WEBHOOK_TOLERANCE_SECONDS } from '#domain/service/webhook-tolerance.ts';

/** Why a delivery is not authentic. All are answered with 401; the name is for metrics and logs only. */
export type WebhookRefusal =
  | 'timestamp_missing'
  | 'timestamp_malformed'
  | 'timestamp_out_of_tolerance'
  | 'signature_missing'
  | 'signature_malformed'
  | 'no_accepted_secret'
  | 'signature_mismatch';

export type WebhookVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: WebhookRefusal };

/** A secret of the service, and until when (epoch milliseconds, inclusive) it is accepted during a rotation. */
export interface AcceptedSecret {
  readonly secret: string;
  readonly acceptedUntil?: number;
}

export interface SignedDelivery {
  /** `X-Service-Timestamp` as received. */
  readonly timestampHeader: string | undefined;
  /**
   * `X-Service-Signature` as received. Node joins a repeated header with commas, which is then refused as malformed.
   */
  readonly signatureHeader: string | undefined;
  /** The request body exactly as received, before any decoding. */
  readonly rawBody: Uint8Array;
  readonly secrets: readonly AcceptedSecret[];
  /** The receiver's clock, epoch milliseconds. */
  readonly now: number;
}

/** Twelve digits reach the year 33658 and stay far inside the exact integers. */
const UNIX_SECONDS = /^[0-9]{1,12}$/;
const SIGNATURE = /^v1=([0-9a-f]{64})$/;

/**
 * Verifies an inbound webhook (specification, Signature rules 1 to 4): `v1=` and the lowercase hexadecimal HMAC-SHA-256
 * of timestamp, full stop and raw body.
 *
 * The timestamp is in whole seconds, the clock in milliseconds: a difference of {@link WEBHOOK_TOLERANCE_SECONDS} is
 * accepted, one of a millisecond more is refused.
 *
 * Says nothing about duplicates (rule 5): who stores the delivery judges those.
 */
export function verifyWebhook(delivery: SignedDelivery): WebhookVerdict {
  const { timestampHeader, signatureHeader, rawBody, secrets, now } = delivery;

  const refusal = refusalOfHeaders(delivery);
  if (refusal !== undefined || timestampHeader === undefined) return refuse(refusal ?? 'timestamp_missing');
  const accepted = secrets.filter((candidate) => isAccepted(candidate, now));
  if (accepted.length === 0) return refuse('no_accepted_secret');

  const received = Buffer.from(SIGNATURE.exec(signatureHeader ?? '')?.[1] ?? '', 'hex');
  let matches = false;
  // Every secret is tried, also after a match, so that the time taken does not tell which one it was.
  for (const { secret } of accepted) {
    const expected = digestOf(secret, timestampHeader, rawBody);
    matches = timingSafeEqual(expected, received) || matches;
  }
  return matches ? { ok: true } : refuse('signature_mismatch');
}

/**
 * What can be said before the body is read: such a delivery is refused whatever its body.
 *
 * @returns undefined where only the body decides.
 */
export function refusalOfHeaders({
  timestampHeader,
  signatureHeader,
  now,
}: Omit<SignedDelivery, 'rawBody' | 'secrets'>): WebhookRefusal | undefined {
  if (timestampHeader === undefined) return 'timestamp_missing';
  if (!UNIX_SECONDS.test(timestampHeader)) return 'timestamp_malformed';
  const distanceMs = Math.abs(now - Number(timestampHeader) * 1_000);
  // Written so that a clock that is not a number refuses too.
  if (!(distanceMs <= WEBHOOK_TOLERANCE_SECONDS * 1_000)) return 'timestamp_out_of_tolerance';
  if (signatureHeader === undefined) return 'signature_missing';
  return SIGNATURE.test(signatureHeader) ? undefined : 'signature_malformed';
}

/**
 * Signs a delivery as the service does (specification, Signature rules 1 and 2): for a delivery of our own to our own
 * address.
 *
 * @param timestamp Unix time in seconds, digits only, as it goes into `X-Service-Timestamp`.
 * @param rawBody the bytes that are sent.
 * @returns the value of `X-Service-Signature`.
 * @throws RangeError when the secret is empty or the timestamp is not one: no receiver would take such a delivery.
 */
export function signWebhook(secret: string, timestamp: string, rawBody: Uint8Array): string {
  if (secret === '') throw new RangeError('an empty secret signs nothing');
  if (!UNIX_SECONDS.test(timestamp)) throw new RangeError('a timestamp is Unix time in seconds, digits only');
  return `v1=${digestOf(secret, timestamp, rawBody).toString('hex')}`;
}

function digestOf(secret: string, timestamp: string, rawBody: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(timestamp).update('.').update(rawBody).digest();
}

function refuse(reason: WebhookRefusal): WebhookVerdict {
  return { ok: false, reason };
}

/** An empty secret would let anybody sign. */
function isAccepted({ secret, acceptedUntil }: AcceptedSecret, now: number): boolean {
  return secret !== '' && (acceptedUntil === undefined || now <= acceptedUntil);
}
