/** Signatures of event webhooks, by the Standard Webhooks specification, version 1. */
import { createHmac, randomBytes as systemRandomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** The specification requires 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** Generates a secret, `whsec_…`. @param randomBytes a cryptographic source; tests pass their own. */
export function generateWebhookSecret(randomBytes: (size: number) => Uint8Array = systemRandomBytes): string {
  return `${PREFIX}${Buffer.from(randomBytes(SECRET_BYTES)).toString('base64')}`;
}

export interface SignedWebhook {
  /** The same for all tries, so that receivers detect repetitions. */
  readonly id: string;
  /** Time of this try. */
  readonly at: Date;
  /** The bytes that are sent. */
  readonly body: Uint8Array;
  /** Every secret that signs now; during a rotation also the former one, so that receivers can change over. */
  readonly secrets: readonly string[];
}

/**
 * The headers of a delivery.
 *
 * @throws RangeError without a secret, or with one that is not of the form `whsec_…`.
 */
export function standardWebhookHeaders({ id, at, body, secrets }: SignedWebhook): Record<string, string> {
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
