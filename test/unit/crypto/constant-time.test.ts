import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { signWebhook, verifyWebhook, type SignedDelivery } from '#crypto/webhook-signatures.ts';

// The duration of a comparison cannot be asserted. The exclusive use of the constant-time function can.
const timingSafeEqual = vi.spyOn(crypto, 'timingSafeEqual');
// Modules that import the function by its name get the spy as well.
syncBuiltinESMExports();
beforeEach(() => void timingSafeEqual.mockClear());
afterAll(() => {
  timingSafeEqual.mockRestore();
  syncBuiltinESMExports();
});

const BODY = Buffer.from('{"event":"ping"}');
const secrets = ['first', 'second', 'third'].map((secret) => ({ secret }));
const delivery = (secret: string): SignedDelivery => ({
  timestampHeader: '1700000000',
  signatureHeader: signWebhook(secret, '1700000000', BODY),
  rawBody: BODY,
  secrets,
  now: 1_700_000_000_000,
});

describe('the comparison of signatures', () => {
  it.each(['first', 'second', 'third', 'unknown'])('is made in constant time with every secret: %s', (secret) => {
    expect(verifyWebhook(delivery(secret)).ok).toBe(secret !== 'unknown');
    expect(timingSafeEqual).toHaveBeenCalledTimes(secrets.length);
    for (const [expected, received] of timingSafeEqual.mock.calls) {
      expect([expected.byteLength, received.byteLength]).toEqual([32, 32]);
    }
  });

  it('uses no other function', () => {
    timingSafeEqual.mockReturnValueOnce(false).mockReturnValueOnce(false).mockReturnValueOnce(false);
    expect(verifyWebhook(delivery('first'))).toEqual({ ok: false, reason: 'signature_mismatch' });
    timingSafeEqual.mockReturnValueOnce(true);
    expect(verifyWebhook(delivery('unknown'))).toEqual({ ok: true });
  });
});
