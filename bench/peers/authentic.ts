import { createHmac, timingSafeEqual } from 'node:crypto';

/** The signature must not be older than five minutes. */
export function isAuthentic(secret: string, body: Buffer, timestamp: string, signature: string): boolean {
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Date.now() / 1_000 - Number(timestamp)) > 300) return false;
  const expected = Buffer.from(`v1=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`);
  const received = Buffer.from(signature);
  return expected.length === received.length && timingSafeEqual(expected, received);
}
