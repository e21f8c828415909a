import { describe, expect, it } from 'vitest';
import {
  checkWebhookAddress,
  checkWebhookArrival,
  checkWebhookSecret,
  newestSecret,
} from '#cli/doctor/checks/webhooks.ts';
import { verifyWebhook } from '#crypto/webhook-signatures.ts';
import { httpAnswer, startRawServer } from '#test/support/network/raw-server.ts';
import { headerOf } from '#test/support/upstream-client.ts';
import { parseEvent } from '#upstream/mapping/events.ts';

const NOW = Date.UTC(2026, 5, 1, 12, 0, 0, 345);
const SECRET = 'whsec_current';
const ACCEPTED = httpAnswer(200, '{"result":"accepted"}');

async function deliver(answer: Buffer | 'hang up', mode: 'sandbox' | 'production' = 'sandbox') {
  await using server = await startRawServer({
    onRequest: ({ socket }) => (answer === 'hang up' ? socket.destroy() : socket.write(answer)),
  });
  const finding = await checkWebhookAddress(
    { url: `${server.origin}/hooks/in?shop=1`, headerPrefix: 'X-Service' },
    { secret: SECRET, mode, now: () => NOW, deadlineMs: 5_000 },
  );
  return { finding, requests: [...server.requests] };
}

describe('the webhook address', () => {
  it('gets a ping as the service would send it, signed with our secret', async () => {
    const { finding, requests } = await deliver(ACCEPTED);
    const [request] = requests;
    expect(finding.status).toBe('ok');
    expect(request?.head).toMatch(/^POST \/hooks\/in\?shop=1 HTTP/);
    expect(headerOf(request, 'x-service-event')).toBe('ping');
    const signed = {
      timestampHeader: headerOf(request, 'x-service-timestamp'),
      signatureHeader: headerOf(request, 'x-service-signature'),
      rawBody: request?.body ?? Buffer.alloc(0),
    };
    expect(verifyWebhook({ ...signed, secrets: [{ secret: SECRET }], now: NOW })).toEqual({ ok: true });
    expect(parseEvent(request?.body ?? Buffer.alloc(0))).toMatchObject({ kind: 'ping' });
  });

  const elsewhere = httpAnswer(301, '', { location: 'https://elsewhere.example' });
  const page = httpAnswer(200, '<html>', { 'content-type': 'text/html' });

  it.each([
    ['refuses our signature', httpAnswer(401, '{}'), /401/, /SERVICE_WEBHOOK_SECRETS/],
    ['redirects', elsewhere, /redirects \(301/, /Use the address that it redirects to/],
    ['is not ours', page, /a server other than our API/, /PUBLIC_WEBHOOK_URL/],
    ['does not know the path', httpAnswer(404, '{}'), /answered 404/, /\/webhooks\/service/],
    ['has no database', httpAnswer(503, '{}'), /answered 503/, /\/readyz/],
    ['hangs up', 'hang up', /^no answer/, /reverse proxy/],
  ] as const)('that %s is a failure with an advice', async (_, answer, detail, advice) => {
    expect((await deliver(answer)).finding).toEqual({
      status: 'failure',
      detail: expect.stringMatching(detail),
      advice: expect.stringMatching(advice),
    });
  });

  it('of this machine only is a warning in production', async () => {
    expect((await deliver(ACCEPTED, 'production')).finding).toMatchObject({
      status: 'warning',
      detail: 'leads to this machine only',
    });
  });

  it('is a warning when it is not set, and is not checked without a secret', async () => {
    const options = { secret: SECRET, mode: 'sandbox', now: () => NOW, deadlineMs: 1_000 } as const;
    const headerPrefix = 'X-Service';
    expect(await checkWebhookAddress({ url: undefined, headerPrefix }, options)).toMatchObject({ status: 'warning' });
    await using server = await startRawServer({ onRequest: ({ socket }) => socket.write(ACCEPTED) });
    const unsigned = await checkWebhookAddress({ url: server.origin, headerPrefix }, { ...options, secret: undefined });
    expect(unsigned).toEqual({ status: 'not_checked', detail: expect.stringContaining('no webhook secret') });
    expect(server.requests).toHaveLength(0);
  });
});

describe('the webhook secret', () => {
  const stored = (secret: string, acceptedUntil?: number) => ({
    secret,
    storedAt: new Date('2026-05-01T00:00:00Z'),
    ...(acceptedUntil === undefined ? {} : { acceptedUntil }),
  });
  const store = (secrets: ReturnType<typeof stored>[] = [], undecryptable = 0) => ({ secrets, undecryptable });
  const configured = [{ secret: 'whsec_configured' }];
  const ended = [{ secret: 'whsec_ended', acceptedUntil: NOW - 1 }];
  const rotating = store([stored('s'), stored('t', NOW + 1_000)]);
  const ofBoth = /^one stored .* a former one until 2026-06-01T12:00:01.*, 1 in SERVICE_/;

  it.each([
    ['one that is configured', configured, store(), 'ok', /^1 in SERVICE_WEBHOOK_SECRETS$/],
    ['one that is stored', [], store([stored('s')]), 'ok', /^one stored on 2026-05-01/],
    ['both, during a rotation', configured, rotating, 'ok', ofBoth],
    ['none at all', [], store(), 'failure', /^there is none, so every webhook/],
    ['only an expired one', ended, store(), 'failure', /has expired, and none is stored$/],
    ['one that does not decrypt', configured, store([], 1), 'failure', /^1 stored one does not decrypt$/],
    ['one that is configured and no database', configured, undefined, 'ok', /could not be read$/],
    ['no database', [], undefined, 'not_checked', /could not be read$/],
  ] as const)('with %s', (_, secrets, storedSecrets, status, detail) => {
    const finding = checkWebhookSecret(secrets, storedSecrets, NOW);
    expect(finding).toMatchObject({ status, detail: expect.stringMatching(detail) });
    expect(JSON.stringify(finding)).not.toContain('whsec');
    expect(finding.advice?.includes('reseller service-secret') ?? false).toBe(status === 'failure');
  });

  it('that signs the ping is the newest one', () => {
    const former = stored('former', NOW + 1_000);
    expect(newestSecret(configured, store([stored('newest'), former]), NOW)).toBe('newest');
    expect(newestSecret(configured, store([former]), NOW)).toBe('whsec_configured');
    expect(newestSecret(ended, store([former]), NOW)).toBe('former');
    expect(newestSecret(ended, undefined, NOW)).toBeUndefined();
  });
});

describe('the arrival of webhooks', () => {
  const lastAt = new Date('2026-06-01T11:00:00Z');

  it('is a warning when deliveries with another header prefix were refused, which may be forged', () => {
    const refusedPrefix = { prefix: 'X-Acme', verified: false, deliveries: 3, lastAt };
    expect(checkWebhookArrival({ webhooksMissed: 0, refusedPrefix })).toEqual({
      status: 'warning',
      detail:
        'Refused with 401: 3 deliveries with headers X-Acme-Event, X-Acme-Signature and so on, the last at ' +
        '2026-06-01T11:00:00.000Z. No valid delivery has come since. ' +
        'This is unverified: anybody can send such headers.',
      advice: 'If Acme is the brand of the service, set SERVICE_HEADER_PREFIX=X-Acme, and start the API again.',
    });
  });

  it('is a failure when these are signed with our secret', () => {
    const refusedPrefix = { prefix: 'X-Acme', verified: true, deliveries: 1, lastAt };
    expect(checkWebhookArrival({ webhooksMissed: 0, refusedPrefix })).toEqual({
      status: 'failure',
      detail: expect.stringMatching(/^Refused with 401: 1 delivery with .* so the service signed what came\.$/),
      advice: 'Set SERVICE_HEADER_PREFIX=X-Acme, and start the API again.',
    });
  });
});
