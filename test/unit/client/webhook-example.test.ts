import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { generateWebhookSecret, standardWebhookHeaders } from '#crypto/webhook-signatures.ts';
import { PROJECT } from '#test/support/compose.ts';
import { removeFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const folder = mkdtempSync(join(tmpdir(), 'reseller-receiver-'));
afterAll(() => removeFolder(folder));

const secret = generateWebhookSecret();
const body = Buffer.from(
  '{"type": "order.completed", "subject": {"kind":"order","id":"ord_1","href":"/v1/orders/ord_1"}}',
  'utf8',
);

/** The example as a separate process, which ends with its test. */
async function startReceiver() {
  const child = spawn(
    process.execPath,
    ['clients/typescript/examples/receive-webhooks.ts', '0', join(folder, 'inbox.sqlite')],
    {
      cwd: PROJECT,
      env: { ...process.env, RESELLER_WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
  const port = await waitFor('the receiver listens', () => /port: (\d+)/.exec(said)?.[1], { context: () => said });
  const send = async (id: string, sent = body, by = secret) =>
    (
      await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        body: sent,
        headers: standardWebhookHeaders({ id, at: new Date(), body, secrets: [by] }),
      })
    ).status;
  const lines = () => said.split('\n').filter((line) => /^(?:new|known)/.test(line));
  return { port, send, lines, [Symbol.dispose]: () => void child.kill() };
}

describe('the example that receives webhooks', () => {
  it('stores each signed event once, for any number of deliveries, also after a restart', async () => {
    {
      using receiver = await startReceiver();
      expect([await receiver.send('evt_1'), await receiver.send('evt_1'), await receiver.send('evt_2')]).toEqual([
        204, 204, 204,
      ]);
      expect(receiver.lines()).toEqual([
        `new    ${body.toString('utf8')}`,
        'known  evt_1',
        `new    ${body.toString('utf8')}`,
      ]);
    }
    using again = await startReceiver();
    expect(await again.send('evt_2')).toBe(204);
    expect(again.lines()).toEqual(['known  evt_2']);
  });

  it('refuses altered, foreign, unsigned and too large requests, and stores none of them', async () => {
    using receiver = await startReceiver();
    // The same JSON with other bytes.
    expect(await receiver.send('evt_3', Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8')))))).toBe(400);
    expect(await receiver.send('evt_3', body, generateWebhookSecret())).toBe(400);
    expect((await fetch(`http://127.0.0.1:${receiver.port}/`, { method: 'POST', body })).status).toBe(400);
    expect(await receiver.send('evt_3', Buffer.alloc(100_001, ' '))).toBe(413);
    expect(receiver.lines()).toEqual([]);
    expect(await receiver.send('evt_3')).toBe(204);
    expect(receiver.lines()).toEqual([`new    ${body.toString('utf8')}`]);
  });
});
