/** Signatures of the webhooks that we send, after the Standard Webhooks specification, version 1. */
import { createHmac, randomBytes as systemRandomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** The specification asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** Makes a new secret, `whsec_…`. @param randomBytes a cryptographic source; tests pass their own. */
export function generateWebhookSecret(randomBytes: (size: number) => Uint8Array = systemRandomBytes): string {
  return `${PREFIX}${Buffer.from(randomBytes(SECRET_BYTES)).toString('base64')}`;
}

export interface SignedWebhook {
  /** Stable over all tries: receivers know a repetition by it. */
  readonly id: string;
  /** When this try is made. */
  readonly at: Date;
  /** The bytes that are sent. */
  readonly body: Uint8Array;
  /**
   * Every secret that signs at present: during a rotation the former one too, so that receivers may change over in
   * their own time.
   */
  readonly secrets: readonly string[];
}

/**
 * The headers of a delivery.
 *
 * @throws RangeError when there is no secret, or one is not of ours: nobody could verify such a delivery.
 */
export function standardWebhookHeaders({ id, at, body, secrets }: SignedWebhook): Record<string, string> {
  if (secrets.length === 0) throw new RangeError('nothing is signed without a secret');
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const digest = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64');
    return `v1,${digest}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  if (!secret.startsWith(PREFIX) || key.length < 24) throw new RangeError('this is no webhook secret');
  return key;
}
