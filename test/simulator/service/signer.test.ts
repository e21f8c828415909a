import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createIdentifiers, luhnCheckDigit } from '#simulator/identifiers.ts';
import { signatureOf } from '#simulator/webhooks/queue.ts';

const vectors = z
  .object({
    secret: z.string(),
    timestamp: z.string(),
    vectors: z.array(
      z.object({ body_utf8: z.string().optional(), body_hex: z.string().optional(), signature: z.string() }),
    ),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../vectors/webhook-vectors.json'), 'utf8')));

describe('the simulator’s signatures', () => {
  it.each(vectors.vectors)('are those of the shared vectors: $signature', ({ body_utf8, body_hex, signature }) => {
    const body = body_hex === undefined ? Buffer.from(body_utf8 ?? '', 'utf8') : Buffer.from(body_hex, 'hex');
    expect(signatureOf(vectors.secret, vectors.timestamp, body)).toBe(signature);
  });
});

describe('the simulator’s identifiers', () => {
  const identifiers = createIdentifiers(() => 'seed');
  const sequences = Array.from({ length: 2_000 }, (_, index) => index + 1);

  it('are the same for the same seed and others for another', () => {
    const other = createIdentifiers(() => 'other');
    expect(createIdentifiers(() => 'seed').iccid(1)).toBe(identifiers.iccid(1));
    expect(other.iccid(1)).not.toBe(identifiers.iccid(1));
    expect(other.id('order', 1)).not.toBe(identifiers.id('order', 1));
  });

  it('do not repeat', () => {
    for (const make of [identifiers.iccid, identifiers.matchingId, (n: number) => identifiers.id('order', n)]) {
      expect(new Set(sequences.map(make)).size).toBe(sequences.length);
    }
  });

  it('make ICCIDs of 19 and of 20 digits that pass the Luhn check', () => {
    const iccids = sequences.map(identifiers.iccid);
    expect(new Set(iccids.map(({ length }) => length))).toEqual(new Set([19, 20]));
    for (const iccid of iccids) expect(luhnCheckDigit(iccid.slice(0, -1))).toBe(iccid.at(-1));
    // The examples of the algorithm's usual descriptions.
    expect(luhnCheckDigit('7992739871')).toBe('3');
    expect(luhnCheckDigit('1789372997')).toBe('4');
  });
});
