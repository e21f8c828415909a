import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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

it.each(vectors.vectors)('signatures are those of the shared vectors: $signature', (vector) => {
  const { body_utf8: text = '', body_hex: hex, signature } = vector;
  const body = hex === undefined ? Buffer.from(text, 'utf8') : Buffer.from(hex, 'hex');
  expect(signatureOf(vectors.secret, vectors.timestamp, body)).toBe(signature);
});

it('the simulator’s ICCIDs have 19 or 20 digits, pass the Luhn check and do not repeat', () => {
  const { iccid } = createIdentifiers(() => 'seed');
  const iccids = Array.from({ length: 2_000 }, (_, index) => iccid(index + 1));
  expect(new Set(iccids).size).toBe(iccids.length);
  expect(new Set(iccids.map(({ length }) => length))).toEqual(new Set([19, 20]));
  for (const each of iccids) expect(luhnCheckDigit(each.slice(0, -1))).toBe(each.at(-1));
  // The examples of the algorithm's usual descriptions.
  expect(['7992739871', '1789372997'].map(luhnCheckDigit)).toEqual(['3', '4']);
});
