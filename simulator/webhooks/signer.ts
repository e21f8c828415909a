import { createHmac } from 'node:crypto';

/**
 * Signs a delivery as the specification says (Events, signature rules 1 and 2). Written independently of the product's
 * own code, so that each checks the other.
 *
 * @param timestamp Unix time in seconds, digits only, as in the header.
 * @param body the raw bytes of the body.
 * @returns the value of the signature header.
 */
export function signatureOf(secret: string, timestamp: string, body: Uint8Array): string {
  const digest = createHmac('sha256', secret).update(`${timestamp}.`, 'utf8').update(body).digest('hex');
  return `v1=${digest}`;
}
