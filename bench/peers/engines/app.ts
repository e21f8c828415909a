import express from 'express';
import { isAuthentic } from '../authentic.ts';
import { Refused, Service } from './service.ts';
import { type Attempt, type Purchase, Shop } from './shop.ts';

export interface Engine {
  /** It may be called several times and starts one workflow. */
  start(orderId: string): Promise<void>;
  /** The service has news of the purchase. */
  report(orderId: string): Promise<void>;
  /** Three empty steps show the engine's own cost. */
  empty(id: string): Promise<void>;
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is needed`);
  return value;
}

export const databaseUrl = required('DATABASE_URL');
const WEBHOOK_SECRET = required('WEBHOOK_SECRET');
const PORT = Number(required('PORT'));
const API_KEY = required('API_KEY');
const FORGOTTEN_EVERY_MS = 30_000;

export const shop = new Shop(databaseUrl, Buffer.from(required('ENCRYPTION_KEY'), 'base64'));
export const service = new Service(required('SERVICE_BASE_URL'), {
  email: required('SERVICE_EMAIL'),
  password: required('SERVICE_PASSWORD'),
});

/** A step that may run twice: the service knows the key. */
export async function buy(orderId: string, attempt: Attempt): Promise<Purchase | 'refused'> {
  try {
    const purchase = await service.buy(attempt);
    await shop.recordPurchase(orderId, attempt, purchase);
    return purchase;
  } catch (error) {
    if (error instanceof Refused) return 'refused';
    throw error;
  }
}

/** Serves until SIGTERM. @param stop ends the engine. */
export async function serve(engine: Engine, stop: () => Promise<void>): Promise<void> {
  await shop.prepare(API_KEY);
  const app = express();
  app.disable('x-powered-by');
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  app.post('/v1/orders', express.json(), async (request, response) => {
    const caller = await shop.callerOf((request.get('Authorization') ?? '').replace(/^Bearer /, ''));
    if (caller === undefined) return void response.status(401).end();
    const key = request.get('Idempotency-Key');
    const { package_id: packageId, external_order_id: reference } = (request.body ?? {}) as Record<string, unknown>;
    if (key === undefined || !Number.isInteger(packageId) || typeof reference !== 'string' || reference === '')
      return void response.status(400).end();
    const accepted = await shop.accept(caller, key, { packageId: packageId as number, reference });
    if (accepted.kind === 'conflict') return void response.status(409).end();
    if (accepted.kind === 'new') await engine.start(accepted.id);
    response.status(202).type('json').send(accepted.body);
  });
  app.post('/webhooks/service', express.raw({ type: () => true }), async (request, response) => {
    const body: unknown = request.body;
    const deliveryId = request.get('X-Service-Delivery');
    if (!Buffer.isBuffer(body) || deliveryId === undefined) return void response.status(400).end();
    const signature = request.get('X-Service-Signature') ?? '';
    if (!isAuthentic(WEBHOOK_SECRET, body, request.get('X-Service-Timestamp') ?? '', signature))
      return void response.status(401).end();
    const { event, data } = JSON.parse(body.toString()) as { event: string; data?: { external_order_id?: string } };
    const waiting = await shop.receive(deliveryId, event, body, data?.external_order_id);
    if (waiting !== undefined && /^order\./.test(event)) await engine.report(waiting);
    response.json({ result: 'accepted' });
  });
  app.post('/empty/:id', async (request, response) => {
    await engine.empty(request.params.id);
    response.json({});
  });
  const server = app.listen(PORT, '127.0.0.1');
  const sweep = setInterval(() => void startForgotten(engine), FORGOTTEN_EVERY_MS);
  process.once('SIGTERM', () => {
    clearInterval(sweep);
    server.close();
    server.closeAllConnections();
    void stop()
      .then(async () => Promise.all([shop.close(), service.close()]))
      .then(() => process.exit(0));
  });
}

async function startForgotten(engine: Engine): Promise<void> {
  try {
    for (const id of await shop.forgotten()) await engine.start(id);
  } catch (error) {
    process.stderr.write(`the sweep failed: ${String(error)}\n`);
  }
}
