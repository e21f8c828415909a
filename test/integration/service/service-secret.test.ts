/** `reseller service-secret` as a user runs it, with the simulator and two API processes that use the secret. */
import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { auditLog, webhookSecrets } from '#db/schema.ts';
import { readWebhookSecrets } from '#db/service/webhook-secrets.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { startProcess } from '#test/support/servers/processes.ts';
import { keyRingOf } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';

const NONE = { SERVICE_WEBHOOK_SECRETS: '' };

/** The output of all processes. */
const printed: string[] = [];

const stack = disposedAtEnd(await startStack({ start: ['simulator'], simulator: { SIMULATOR_WEBHOOK_SECRET: '' } }));
const admin = new SimulatorAdmin(stack.simulator);
const port = await freePort();
const secondApi = new HttpClient(`http://127.0.0.1:${port}`);
await stack.start('api', NONE);
const environment: Record<string, string> = Object.fromEntries(
  Object.entries({ ...stack.environments.api, ...NONE }).map(([name, value]) => [name, value ?? '']),
);
const second = disposedAtEnd(
  await startProcess({
    name: 'second-api',
    script: 'api/main.ts',
    environment: { ...environment, API_PORT: String(port) },
    readyUrl: `${secondApi.baseUrl}/readyz`,
  }),
);

async function serviceSecret(...typed: readonly string[]) {
  const args = ['service-secret', ...typed];
  const started = { name: 'service-secret', script: 'cli/main.ts', args, environment };
  await using command = await startProcess(started);
  const { code } = await command.exit();
  printed.push(command.output());
  return { code, output: command.output() };
}

/** The secrets that still verify, newest first, decrypted by the test. */
async function storedSecrets(): Promise<string[]> {
  const { secrets } = await stack.database.run((db) =>
    readWebhookSecrets(db, keyRingOf(stack), { environment: 'sandbox', now: new Date() }),
  );
  return secrets.map(({ secret }) => secret);
}

/** Waits for a delivery signed by the service. */
async function isDeliveredByService(): Promise<void> {
  const id = await admin.sendWebhook({ event: 'ping', data: {} });
  const isDelivered = async () =>
    (await admin.webhooks()).some((sent) => sent.id === id && sent.status === 'delivered');
  await waitFor('the service has delivered', isDelivered, { context: () => stack.tails() });
}

/** Sends a delivery with the signature of this secret. @returns its status. */
async function deliver(secret: string, to: HttpClient): Promise<number> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const body = JSON.stringify({ event: 'ping', data: { id: randomUUID() } });
  const headers = {
    'X-Service-Event': 'ping',
    'X-Service-Delivery': randomUUID(),
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`,
  };
  return (await to.post('/webhooks/service', body, { headers })).status;
}

const first = new HttpClient(stack.api.baseUrl);
const becomes = (status: number, secret: string, to: HttpClient) =>
  waitFor(`a delivery gets ${status}`, async () => (await deliver(secret, to)) === status, { everyMs: 200 });

describe('reseller service-secret', () => {
  it('reports a missing secret before a rotation changes anything', async () => {
    const output = expect.stringContaining('Run `npx reseller service-secret create`');
    expect(await serviceSecret('rotate')).toEqual({ code: 1, output });
    expect(await stack.database.run((db) => db.$count(webhookSecrets))).toBe(0);
  });

  it('stores the new secret, never prints it, and accepts deliveries of the service without a restart', async () => {
    const output = /\(sandbox\)\. It is stored encrypted and never shown\.\nIt is valid from 20/;
    expect(await serviceSecret('create')).toEqual({ code: 0, output: expect.stringMatching(output) });
    await isDeliveredByService();
  });

  it('rotates the secret, and both API processes accept both signatures', async () => {
    const [former = ''] = await storedSecrets();
    const output = expect.stringMatching(/The former secret is valid until 20.*\(1 day\)/);
    expect(await serviceSecret('rotate')).toEqual({ code: 0, output });
    const [newest = ''] = await storedSecrets();
    expect(newest).not.toBe(former);
    for (const api of [first, secondApi]) {
      await becomes(200, newest, api);
      expect(await deliver(former, api)).toBe(200);
    }
    await isDeliveredByService();
  });

  it('ends every former secret at once after a leak', async () => {
    const formers = await storedSecrets();
    expect(formers).toHaveLength(2);
    const { output } = await serviceSecret('rotate', '--overlap', '0s');
    expect(output).toContain('Former stored secrets are no longer valid.');
    const [newest = ''] = await storedSecrets();
    for (const api of [first, secondApi]) {
      await becomes(200, newest, api);
      for (const former of formers) expect(await deliver(former, api)).toBe(401);
    }
  });

  it('reports a possibly unknown secret after lost answers, and the next rotation corrects it', async () => {
    await admin.onRequest('rotateWebhookSecret', { kind: 'accepted_but_answer_lost' }, { count: 4 });
    const output = expect.stringContaining('may have created a webhook secret; we have not received it');
    expect(await serviceSecret('rotate')).toEqual({ code: 1, output });
    expect((await serviceSecret('rotate')).code).toBe(0);
    await isDeliveredByService();
  });

  it('audits each change, and leaves no secret in any output, log or row', async () => {
    const actions = (await stack.database.run((db) => db.select().from(auditLog).orderBy(auditLog.id))).map(
      ({ actor, action }) => `${actor.split('/')[0]} ${action}`,
    );
    expect(actions).toContain('command webhook_secret.create');
    expect(actions.filter((entry) => entry === 'command webhook_secret.rotate').length).toBeGreaterThanOrEqual(4);
    const secrets = await storedSecrets();
    expect(secrets.length).toBeGreaterThanOrEqual(2);
    const { rows } = await stack.database.executor.execute(
      `select encode(encrypted_secret, 'escape') as encrypted from webhook_secrets`,
    );
    const seen = [...printed, stack.process('api').output(), second.output(), JSON.stringify(rows)].join('\n');
    for (const secret of secrets) expect(seen).not.toContain(secret);
    expect(seen).toContain('the API takes requests');
  });
});
