import { randomBytes } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { generateWebhookSecret, standardWebhookHeaders } from '#crypto/webhook-signatures.ts';

const body = Buffer.from(
  '{"type":"order.completed","timestamp":"2030-01-31T12:00:00.000Z","data":{"name":"Jürgen"}}',
  'utf8',
);
const signed = (secrets: readonly string[], at = new Date()) =>
  standardWebhookHeaders({ id: 'evt_1', at, body, secrets });
const verify = (secret: string, headers: Record<string, string>, bytes = body) =>
  new Webhook(secret).verify(bytes, headers);

describe('signatures of our webhooks', () => {
  it('are those of the published library, bit for bit', () => {
    const secret = generateWebhookSecret();
    const at = new Date();
    expect(signed([secret], at)['webhook-signature']).toBe(
      new Webhook(secret).sign('evt_1', at, body.toString('utf8')),
    );
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
