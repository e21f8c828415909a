import { describe, expect, it } from 'vitest';
import { signatureOf } from '#simulator/webhooks/queue.ts';
import {
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
});

describe('the webhook secret', () => {
  const secretFrom = async (simulator: SimulatorClient, path = '/webhook-secret/rotate') =>
    (await simulator.sandbox.post(path)).read(webhookSecret).secret;
  const signedWith = (secret: string, { timestamp, body, signature }: ReceivedWebhook) =>
    signatureOf(secret, timestamp, body) === signature;

  it('is created once, and required for webhooks', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhookUrl: receiver.url });
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

  it('late_rotation: the old one still signs for a while', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ dialect: 'late_rotation', webhookUrl: receiver.url });
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
