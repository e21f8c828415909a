import { describe, expect, it } from 'vitest';
import { compareVersions } from '#simulator/service/updates.ts';
import { signatureOf } from '#simulator/webhooks/dispatcher.ts';
import {
  fieldsOf,
  startReceiver,
  startTestSimulator,
  type ReceivedWebhook,
  type SimulatorClient,
} from '#test/simulator/support.ts';
import { latestUpdate, webhookSecret } from '#upstream/contract.ts';

describe('the update check', () => {
  const check = async (simulator: SimulatorClient, current: string, channel = 'stable') =>
    (await simulator.sandbox.get(`/updates/latest?current_version=${current}&channel=${channel}`)).read(latestUpdate);

  it('reports a newer version of the channel', async () => {
    await using simulator = await startTestSimulator();
    const update = await check(simulator, '2.3.99');
    expect(update).toMatchObject({ latest_version: '2.4.1', update_available: true, channel: 'stable' });
    expect(update.download_url).toContain('2.4.1');
    expect(update.checksum_sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(await check(simulator, '2.4.1', 'beta')).toMatchObject({ latest_version: '2.5.0', update_available: true });
  });

  it('accepts any channel, without an update for an unknown one', async () => {
    await using simulator = await startTestSimulator();
    for (const channel of ['nightly', 'constructor']) {
      expect(await check(simulator, '1.0', channel)).toEqual({
        latest_version: '1.0',
        update_available: false,
        channel,
      });
    }
    await simulator.admin.post('/updates', { channel: 'nightly', version: '2.6.0.1' });
    expect(await check(simulator, '1.0', 'nightly')).toMatchObject({
      latest_version: '2.6.0.1',
      update_available: true,
    });
    expect((await simulator.admin.get('/updates')).body).toEqual({
      stable: '2.4.1',
      beta: '2.5.0',
      nightly: '2.6.0.1',
    });
  });

  it.each([
    ['', ['current_version', 'channel']],
    ['current_version=1.0', ['channel']],
    ['current_version=v1&channel=stable', ['current_version']],
    ['current_version=1.0&channel=', ['channel']],
    ['current_version=1.0&channel=stable&color=red', ['color']],
  ])('refuses the query "%s"', async (query, fields) => {
    await using simulator = await startTestSimulator();
    const refused = await simulator.sandbox.get(`/updates/latest?${query}`);
    expect([refused.status, fieldsOf(refused)]).toEqual([422, fields]);
  });

  it('compares dotted numbers as numbers, of any length and size', () => {
    const ordered = ['0', '0.9', '1', '1.0.1', '1.2', '1.10', '2', '99999999999999999999.1', '99999999999999999999.2'];
    const signs = ordered.map((left) => ordered.map((right) => Math.sign(compareVersions(left, right))));
    expect(signs).toEqual(ordered.map((_, left) => ordered.map((__, right) => Math.sign(left - right))));
    expect(compareVersions('1', '1.0.0')).toBe(0);
  });
});

describe('the webhook secret', () => {
  const secretFrom = async (simulator: SimulatorClient, path = '/webhook-secret/rotate') =>
    (await simulator.sandbox.post(path)).read(webhookSecret).secret;
  const signedWith = (secret: string, { timestamp, body, signature }: ReceivedWebhook) =>
    signatureOf(secret, timestamp, body) === signature;

  it('is created once, and required for webhooks', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhook: { url: receiver.url } });
    expect((await simulator.admin.post('/webhooks/ping')).at('status')).toBe('no_target');
    expect((await simulator.sandbox.post('/webhook-secret/rotate')).status).toBe(404);
    const secret = await secretFrom(simulator, '/webhook-secret');
    const again = await simulator.sandbox.post('/webhook-secret');
    expect([again.status, again.at('error', 'code')]).toEqual([409, 'webhook_secret_exists']);
    await simulator.admin.post('/webhooks/ping');
    const [ping] = await receiver.count(1);
    expect(ping && signedWith(secret, ping)).toBe(true);
    expect((await simulator.admin.get('/overview')).text).not.toContain(secret);
  });

  it('is replaced by a rotation for all deliveries', async () => {
    let healthy = false;
    await using receiver = await startReceiver((response) => response.writeHead(healthy ? 204 : 503).end());
    await using simulator = await startTestSimulator({ webhook: { url: receiver.url, secret: 'configured-secret' } });
    await simulator.admin.post('/webhooks/ping');
    await receiver.count(1);
    const secret = await secretFrom(simulator);
    healthy = true;
    await expect.poll(async () => (await simulator.admin.get('/deliveries')).at('data', 0, 'status')).toBe('delivered');
    const [first, last] = [receiver.received[0], receiver.received.at(-1)];
    expect(first && signedWith('configured-secret', first)).toBe(true);
    expect(last && [signedWith(secret, last), last.deliveryId === first?.deliveryId]).toEqual([true, true]);
    const next = await secretFrom(simulator);
    expect(next).not.toBe(secret);
    await simulator.admin.post('/webhooks/ping');
    await expect.poll(() => receiver.received.some((webhook) => signedWith(next, webhook))).toBe(true);
  });

  it('late_rotation: the old one still signs for a while', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ dialect: 'late_rotation', webhook: { url: receiver.url } });
    const first = await secretFrom(simulator, '/webhook-secret');
    const second = await secretFrom(simulator);
    await simulator.admin.post('/webhooks/ping');
    await receiver.count(1);
    await simulator.advance(60_000);
    await simulator.admin.post('/webhooks/ping');
    const [early, late] = await receiver.count(2);
    expect([early && signedWith(first, early), late && signedWith(second, late)]).toEqual([true, true]);
  });
});
