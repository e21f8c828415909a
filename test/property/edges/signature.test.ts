import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from '#crypto/webhook-signatures.ts';
import { assertForAll, assertForMany } from '#test/support/for-all.ts';

const sign = (secret: string, timestamp: string, body: Uint8Array) =>
  `v1=${createHmac('sha256', secret)
    .update(Buffer.concat([Buffer.from(`${timestamp}.`), body]))
    .digest('hex')}`;

const secret = fc.string({ minLength: 1, maxLength: 64, unit: 'binary' }).filter((text) => text !== '');
const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
const body = fc.uint8Array({ maxLength: 300 });

/** Flips one bit of non-empty bytes. */
function flipBit(bytes: Uint8Array, position: number): Buffer {
  const copy = Buffer.from(bytes);
  const bit = position % (copy.length * 8);
  copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return copy;
}

describe('webhook verification', () => {
  it('accepts every signature within the tolerance', () => {
    assertForAll(secret, seconds, body, fc.integer({ min: -300_000, max: 300_000 }), (key, time, rawBody, offset) => {
      const timestampHeader = String(time);
      const signatureHeader = sign(key, timestampHeader, rawBody);
      const now = time * 1_000 + offset;
      const verdict = verifyWebhook({ timestampHeader, signatureHeader, rawBody, secrets: [{ secret: key }], now });
      expect(verdict).toEqual({ ok: true });
    });
  });

  it('refuses every change of a single bit of body, timestamp or signature', () => {
    const content = fc.uint8Array({ minLength: 1, maxLength: 300 });
    const changed = fc.constantFrom('body', 'timestamp', 'signature');
    assertForMany(1_000, secret, seconds, content, changed, fc.nat(), (key, time, original, part, position) => {
      const timestamp = String(time);
      const signature = sign(key, timestamp, original);
      const flipped = (text: string) => flipBit(Buffer.from(text, 'latin1'), position).toString('latin1');
      const verdict = verifyWebhook({
        timestampHeader: part === 'timestamp' ? flipped(timestamp) : timestamp,
        signatureHeader: part === 'signature' ? flipped(signature) : signature,
        rawBody: part === 'body' ? flipBit(original, position) : original,
        secrets: [{ secret: key }],
        now: time * 1_000,
      });
      expect(verdict.ok).toBe(false);
    });
  });

  it('never throws and never accepts arbitrary headers', () => {
    const header = fc.option(
      fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^v1=[0-9a-f]{64}$/), fc.stringMatching(/^[0-9]{10}$/)),
      { nil: undefined },
    );
    assertForAll(header, header, body, seconds, (timestampHeader, signatureHeader, rawBody, time) => {
      const secrets = [{ secret: 'a secret that signed nothing' }];
      expect(verifyWebhook({ timestampHeader, signatureHeader, rawBody, secrets, now: time * 1_000 }).ok).toBe(false);
    });
  });

  it('accepts a delivery exactly when an accepted secret signed it', () => {
    const name = fc.constantFrom('alpha-secret', 'beta-secret', 'gamma-secret');
    const accepted = fc.array(fc.record({ secret: name, ended: fc.boolean() }), { maxLength: 5 });
    assertForAll(accepted, name, body, (list, signer, rawBody) => {
      const now = 1_700_000_000_000;
      const secrets = list.map((entry) => ({ secret: entry.secret, acceptedUntil: entry.ended ? now - 1 : now }));
      const timestampHeader = '1700000000';
      const signatureHeader = sign(signer, timestampHeader, rawBody);
      expect(verifyWebhook({ timestampHeader, signatureHeader, rawBody, secrets, now }).ok).toBe(
        list.some((entry) => entry.secret === signer && !entry.ended),
      );
    });
  });
});
