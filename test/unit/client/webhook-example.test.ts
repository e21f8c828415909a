import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generateWebhookSecret, standardWebhookHeaders } from '#crypto/webhook-signatures.ts';
import { PROJECT } from '#test/support/compose.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const folder = temporaryFolder('receiver');
const secret = generateWebhookSecret();
const text = '{"type": "order.completed", "subject": {"kind":"order","id":"ord_1","href":"/v1/orders/ord_1"}}';
const body = Buffer.from(text);

/** The example as a separate process, which ends with its test. */
async function startReceiver() {
  const args = ['clients/typescript/examples/receive-webhooks.ts', '0', join(folder, 'inbox.sqlite')];
  const env = { ...process.env, RESELLER_WEBHOOK_SECRET: secret };
  const child = spawn(process.execPath, args, { cwd: PROJECT, env, stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
  const port = await waitFor('the receiver listens', () => /port: (\d+)/.exec(said)?.[1], { context: () => said });
  const post = async (sent: typeof body, headers: Record<string, string>) =>
    (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: sent, headers })).status;
  const send = (id: string, sent = body, by = secret) =>
    post(sent, standardWebhookHeaders({ id, at: new Date(), body, secrets: [by] }));
  const lines = () => said.split('\n').filter((line) => /^(?:new|known)/.test(line));
  return { post, send, lines, [Symbol.dispose]: () => void child.kill() };
}

describe('the example that receives webhooks', () => {
  it('stores each signed event once, for any number of deliveries, also after a restart', async () => {
    {
      using receiver = await startReceiver();
      for (const id of ['evt_1', 'evt_1', 'evt_2']) expect(await receiver.send(id)).toBe(204);
      expect(receiver.lines()).toEqual([`new    ${text}`, 'known  evt_1', `new    ${text}`]);
    }
    using again = await startReceiver();
    expect(await again.send('evt_2')).toBe(204);
    expect(again.lines()).toEqual(['known  evt_2']);
  });

  it('refuses altered, foreign, unsigned and too large requests, and stores none of them', async () => {
    using receiver = await startReceiver();
    // The same JSON with other bytes.
    expect(await receiver.send('evt_3', Buffer.from(JSON.stringify(JSON.parse(text))))).toBe(400);
    expect(await receiver.send('evt_3', body, generateWebhookSecret())).toBe(400);
    expect(await receiver.post(body, {})).toBe(400);
    expect(await receiver.send('evt_3', Buffer.alloc(100_001, ' '))).toBe(413);
    expect(receiver.lines()).toEqual([]);
    expect(await receiver.send('evt_3')).toBe(204);
    expect(receiver.lines()).toEqual([`new    ${text}`]);
  });
});
