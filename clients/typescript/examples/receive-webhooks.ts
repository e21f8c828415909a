/**
 * Receives event webhooks: verifies each, and stores it once. Create the endpoint with `POST /v1/webhook-endpoints` and
 * `"url": "http://127.0.0.1:5000/"`; its answer contains the secret. Run this program beside `npm start`, from the root
 * of the project. Your own program needs Node.js 24 (`node:sqlite`, TypeScript without a build) and
 * `npm install standardwebhooks`:
 *
 *   RESELLER_WEBHOOK_SECRET=whsec_… npx node clients/typescript/examples/receive-webhooks.ts 5000 .data/inbox.sqlite
 */
import { createServer, type IncomingMessage } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

const webhook = new Webhook(process.env['RESELLER_WEBHOOK_SECRET'] ?? '');
const LARGEST_BODY = 100_000;

/** A table in the database of your shop. Your program processes its rows and marks them as done. */
const inbox = new DatabaseSync(process.argv[3] ?? ':memory:');
inbox.exec('CREATE TABLE IF NOT EXISTS inbox (webhook_id TEXT PRIMARY KEY, event TEXT NOT NULL, done_at TEXT)');
// With two statements, a crash between them would lose an event or process it twice.
const keep = inbox.prepare('INSERT INTO inbox (webhook_id, event) VALUES (?, ?) ON CONFLICT DO NOTHING');

const server = createServer((request, response) => {
  void receive(request).then(
    (status) => response.writeHead(status).end(),
    (error: unknown) => {
      console.error(error);
      // The API sends it again.
      response.writeHead(500).end();
    },
  );
});
server.listen(Number(process.argv[2] ?? 5_000), '127.0.0.1', () => console.log('listening', server.address()));

/** Process the event later: the API waits at most 15 s for the answer. */
async function receive(request: IncomingMessage): Promise<number> {
  const raw = await bytesOf(request);
  if (raw === undefined) return 413;
  const header = (name: string) => String(request.headers[name] ?? '');
  const id = header('webhook-id');
  try {
    // JSON that was parsed and written again has another signature.
    webhook.verify(raw, {
      'webhook-id': id,
      'webhook-timestamp': header('webhook-timestamp'),
      'webhook-signature': header('webhook-signature'),
    });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return 400;
  }
  const isNew = keep.run(id, raw.toString('utf8')).changes === 1;
  console.log(isNew ? `new    ${raw.toString('utf8')}` : `known  ${id}`);
  return 204;
}

async function bytesOf(request: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) if ((length += chunk.length) <= LARGEST_BODY) chunks.push(chunk);
  return length > LARGEST_BODY ? undefined : Buffer.concat(chunks);
}
