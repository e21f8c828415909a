import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  generateWebhookSecret,
  signWebhook,
  standardWebhookHeaders,
  verifyWebhook,
  type AcceptedSecret,
  type SignedDelivery,
} from '#crypto/webhook-signatures.ts';
import { copiesAcceptedForMs } from '#domain/service/service-address.ts';

const SECRET = 'whsec_test';
const TIMESTAMP = '1700000000';
const NOW = 1_700_000_000_000;
const BODY = Buffer.from('{"event":"ping"}');

/** Implemented a second time here, so that a wrong signed string cannot be right on both sides. */
function sign(secret: string, timestamp: string, body: Uint8Array): string {
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), body]);
  return `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`;
}

function delivery(changes: Partial<SignedDelivery> = {}): SignedDelivery {
  const timestamp = changes.timestampHeader ?? TIMESTAMP;
  return {
    timestampHeader: TIMESTAMP,
    signatureHeader: sign(SECRET, timestamp, changes.rawBody ?? BODY),
    rawBody: BODY,
    secrets: [{ secret: SECRET }],
    now: NOW,
    ...changes,
  };
}

const refused = (reason: string) => ({ ok: false, reason });

const vectors = z
  .object({
    secret: z.string(),
    timestamp: z.string(),
    vectors: z.array(
      z.object({ body_utf8: z.string().optional(), body_hex: z.string().optional(), signature: z.string() }),
    ),
  })
  .parse(JSON.parse(readFileSync(new URL('../../vectors/webhook-vectors.json', import.meta.url), 'utf8')));

describe('the published vectors', () => {
  it.each(vectors.vectors)('are verified and made: $signature', ({ body_utf8: text, body_hex: hex, signature }) => {
    const rawBody = text === undefined ? Buffer.from(hex ?? '', 'hex') : Buffer.from(text, 'utf8');
    const { secret, timestamp } = vectors;
    const genuine = {
      timestampHeader: timestamp,
      signatureHeader: signature,
      rawBody,
      secrets: [{ secret }],
      now: Number(timestamp) * 1_000,
    };
    expect(verifyWebhook(genuine)).toEqual({ ok: true });
    const altered = { ...genuine, rawBody: Buffer.concat([rawBody, Buffer.from(' ')]) };
    expect(verifyWebhook(altered)).toEqual(refused('signature_mismatch'));
    expect(signWebhook(secret, timestamp, rawBody)).toBe(signature);
  });
});

describe('the timestamp', () => {
  it.each([-86_400, -301, 301, 86_400])('is refused %i seconds off the clock', (offset) => {
    const timestampHeader = String(1_700_000_000 + offset);
    expect(verifyWebhook(delivery({ timestampHeader }))).toEqual(refused('timestamp_out_of_tolerance'));
  });

  it.each([
    [299_999, true],
    [300_000, true],
    [300_001, false],
    [-300_000, true],
    [-300_001, false],
    [-300_999, false],
    [Number.NaN, false],
  ])('is compared with a clock that is %i milliseconds off: %s', (offset, ok) => {
    expect(verifyWebhook(delivery({ now: NOW + offset })).ok).toBe(ok);
  });

  it.each([300_000, 3_000])(
    'with a tolerance of %i ms lets a copy in for as long as its report must be stored, and not longer',
    (toleranceMs) => {
      const accepted = (now: number) => verifyWebhook(delivery({ now, toleranceMs })).ok;
      // The timestamp is ahead of our clock by the whole tolerance.
      const first = NOW - toleranceMs;
      const last = first + copiesAcceptedForMs(toleranceMs);
      expect([first - 1, first, last, last + 1].map(accepted)).toEqual([false, true, true, false]);
    },
  );

  it.each([
    '',
    '+1700000000',
    '1700000000.0',
    '1700000000abc',
    '1.7e9',
    '0x6553f100',
    '-1',
    ' 1700000000',
    '1700000000 ',
    '1700000000\n',
    '1,700,000,000',
    '１７００００００００',
    '١٧٠٠٠٠٠٠٠٠',
    '1700000000, 1700000000',
    '170000000000000000000',
    '1700000000000',
  ])('is refused as %j, also with a signature', (timestampHeader) => {
    expect(verifyWebhook(delivery({ timestampHeader }))).toEqual(refused('timestamp_malformed'));
  });

  it.each([
    ['is missing', undefined, 'timestamp_missing'],
    ['is in milliseconds cut to twelve digits', '170000000000', 'timestamp_out_of_tolerance'],
  ])('is refused when it %s', (_what, timestampHeader, reason) => {
    expect(verifyWebhook(delivery({ timestampHeader }))).toEqual(refused(reason));
  });
});

describe('the signature', () => {
  const good = sign(SECRET, TIMESTAMP, BODY);
  const hex = good.slice(3);

  it.each([
    ['empty', ''],
    ['only the label', 'v1='],
    ['without a label', hex],
    ['uppercase', `v1=${hex.toUpperCase()}`],
    ['an uppercase label', `V1=${hex}`],
    ['one digit short', good.slice(0, -1)],
    ['one digit long', `${good}0`],
    ['with trailing junk', `${good}z`],
    ['with a trailing line feed', `${good}\n`],
    ['with a leading space', ` ${good}`],
    ['doubled', `${good}${good}`],
    ['a list', `${good},${good}`],
    ['a repeated header', `${good}, ${good}`],
    ['a list with another version', `v0=${hex},${good}`],
    ['v0', `v0=${hex}`],
    ['v2', `v2=${hex}`],
    ['v11', `v11=${hex}`],
    ['quoted', `"${good}"`],
    ['in base64', `v1=${Buffer.from(hex, 'hex').toString('base64')}`],
  ])('is refused as malformed: %s', (_, signatureHeader) => {
    expect(verifyWebhook(delivery({ signatureHeader }))).toEqual(refused('signature_malformed'));
  });

  it('is refused when it is missing', () => {
    expect(verifyWebhook(delivery({ signatureHeader: undefined }))).toEqual(refused('signature_missing'));
  });
});

describe('a rotation', () => {
  const OLD = 'whsec_old_secret';
  const secrets: readonly AcceptedSecret[] = [{ secret: SECRET }, { secret: OLD, acceptedUntil: NOW }];
  const signedWithOld = sign(OLD, TIMESTAMP, BODY);

  it('accepts both secrets, in any order', () => {
    expect(verifyWebhook(delivery({ secrets })).ok).toBe(true);
    expect(verifyWebhook(delivery({ secrets, signatureHeader: signedWithOld })).ok).toBe(true);
    expect(verifyWebhook(delivery({ secrets: secrets.toReversed() })).ok).toBe(true);
    expect(verifyWebhook(delivery({ secrets: secrets.toReversed(), signatureHeader: signedWithOld })).ok).toBe(true);
  });

  it('refuses the old secret from the first millisecond after its end', () => {
    const now = NOW + 1;
    expect(verifyWebhook(delivery({ secrets, now })).ok).toBe(true);
    const late = delivery({ secrets, now, signatureHeader: signedWithOld });
    expect(verifyWebhook(late)).toEqual(refused('signature_mismatch'));
  });

  it('refuses a delivery when no secret is accepted', () => {
    const ended = [{ secret: OLD, acceptedUntil: NOW - 1 }];
    const late = delivery({ secrets: ended, signatureHeader: signedWithOld });
    expect(verifyWebhook(late)).toEqual(refused('no_accepted_secret'));
  });

  it('refuses an empty secret', () => {
    const empty = delivery({ secrets: [{ secret: '' }], signatureHeader: sign('', TIMESTAMP, BODY) });
    for (const without of [empty, delivery({ secrets: [] })])
      expect(verifyWebhook(without)).toEqual(refused('no_accepted_secret'));
  });
});

describe('signing our own delivery', () => {
  it.each(['', '17e8', ' 1700000000', '-1', '1700000000.5'])(
    'refuses %j as a timestamp, which no receiver accepts',
    (timestamp) => {
      const error = new RangeError('the timestamp must be Unix time in seconds, digits only');
      expect(() => signWebhook(SECRET, timestamp, BODY)).toThrow(error);
    },
  );

  it('refuses an empty secret', () => {
    expect(() => signWebhook('', TIMESTAMP, BODY)).toThrow(new RangeError('the secret is empty'));
  });
});

describe('signatures of our webhooks', () => {
  const text = '{"type":"order.completed","timestamp":"2030-01-31T12:00:00.000Z","data":{"name":"Jürgen"}}';
  const body = Buffer.from(text);
  const signed = (secrets: readonly string[], at = new Date()) =>
    standardWebhookHeaders({ id: 'evt_1', at, body, secrets });
  const verify = (secret: string, headers: Record<string, string>) => new Webhook(secret).verify(body, headers);

  it('are those of the published library, bit for bit', () => {
    const secret = generateWebhookSecret();
    const at = new Date();
    expect(signed([secret], at)['webhook-signature']).toBe(new Webhook(secret).sign('evt_1', at, text));
  });

  it('verify with either secret during a rotation, and with no other', () => {
    const [former, latest, other] = [generateWebhookSecret(), generateWebhookSecret(), generateWebhookSecret()];
    const headers = signed([latest, former]);
    expect(() => verify(former, headers)).not.toThrow();
    expect(() => verify(latest, headers)).not.toThrow();
    expect(() => verify(other, headers)).toThrow(WebhookVerificationError);
  });

  it('need at least one valid secret', () => {
    expect(() => signed([])).toThrow(RangeError);
    expect(() => signed(['whsec_dG9vc2hvcnQ='])).toThrow(RangeError);
    expect(() => signed([randomBytes(32).toString('base64')])).toThrow(RangeError);
  });
});
