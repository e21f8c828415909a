import { randomBytes } from 'node:crypto';
import { Client } from 'undici';
import { type WebhookTask, closedLoop, serve } from '#bench/drivers/protocol.ts';
import { signWebhook } from '#crypto/webhook-signatures.ts';
import { DEFAULT_HEADER_PREFIX, serviceHeaders } from '#upstream/contract.ts';

/** The measured processes have default settings. */
const HEADERS = serviceHeaders(DEFAULT_HEADER_PREFIX);

serve(async (task: WebhookTask) => {
  const { origin, pathname } = new URL(task.url);
  // Before the clock starts: making deliveries is not measured.
  const deliveries = Array.from({ length: task.count }, (_, number) => signedDelivery(task, number));
  // One connection per lane, as a service's sender keeps them.
  const connections = Array.from({ length: task.atOnce }, () => new Client(origin, { pipelining: 1 }));
  try {
    return await closedLoop(task, async (number, lane) => {
      const [connection, delivery] = [connections[lane], deliveries[number - 1]];
      if (connection === undefined || delivery === undefined) throw new RangeError('more lanes or pieces than planned');
      const answer = await connection.request({ method: 'POST', path: pathname, ...delivery });
      const text = await answer.body.text();
      if (answer.statusCode !== 200 || !text.includes('"accepted"')) {
        throw new Error(`a delivery was answered with ${answer.statusCode}: ${text}`);
      }
    });
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
});

function signedDelivery({ secret, deliveryPrefix }: WebhookTask, number: number) {
  const body = JSON.stringify({
    event: 'order.completed',
    created_at: new Date().toISOString(),
    data: {
      id: `svc_${deliveryPrefix}_${number}`,
      external_order_id: `ext_${randomBytes(12).toString('hex')}`,
      package_id: 2001,
      status: 'completed',
      esim_id: `esim_${randomBytes(12).toString('hex')}`,
      price_for_reseller: '3.20',
      currency: 'USD',
      failure: null,
      created_at: new Date().toISOString(),
    },
  });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  return {
    body,
    headers: {
      'content-type': 'application/json',
      [HEADERS.event]: 'order.completed',
      [HEADERS.delivery]: `${deliveryPrefix}-${number}`,
      [HEADERS.timestamp]: timestamp,
      [HEADERS.signature]: signWebhook(secret, timestamp, Buffer.from(body)),
    },
  };
}
