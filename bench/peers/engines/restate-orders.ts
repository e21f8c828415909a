/**
 * On Restate. Its server keeps the journals in its own store and calls this process over HTTP/2; orders are in
 * PostgreSQL. It lacks what `dbos-orders.ts` lacks, but one partition runs a workflow, so no two processes do.
 */
import * as restate from '@restatedev/restate-sdk';
import { Pool } from 'undici';
import { buy, serve, service, shop } from './app.ts';
import type { Purchase } from './shop.ts';

const RETRIED = { initialRetryInterval: 1_000, retryIntervalFactor: 2, maxRetryAttempts: 10 } as const;
const REPORT_WITHIN_MS = 60_000;

const order = restate.workflow({
  name: 'order',
  handlers: {
    run: async (ctx: restate.WorkflowContext): Promise<void> => {
      const orderId = ctx.key;
      const attempt = await ctx.run('prepare', async () => shop.prepareAttempt(orderId), RETRIED);
      let purchase: Purchase | 'refused' = await ctx.run('buy', async () => buy(orderId, attempt), RETRIED);
      while (purchase !== 'refused' && purchase.status === 'processing') {
        const { id } = purchase;
        await ctx.promise<string>('service').get().orTimeout(REPORT_WITHIN_MS).catch(ignoreTimeout);
        purchase = await ctx.run('look up', async () => service.order(id), RETRIED);
        if (purchase.status === 'processing') await ctx.sleep(1_000);
      }
      const bought = purchase;
      if (bought === 'refused' || bought.status === 'failed') {
        await ctx.run('fail', async () => shop.putAside(orderId, 'failed'), RETRIED);
        return;
      }
      const deliver = async () => shop.deliver(orderId, attempt, bought, await service.esim(bought.esim_id ?? ''));
      await ctx.run('deliver', deliver, RETRIED);
    },
    report: async (ctx: restate.WorkflowSharedContext): Promise<void> => {
      await ctx.promise<string>('service').resolve('news');
    },
  },
});

const empty = restate.service({
  name: 'empty',
  handlers: {
    run: async (ctx: restate.Context): Promise<void> => {
      for (const name of ['first', 'second', 'third']) await ctx.run(name, () => undefined);
    },
  },
});

const { ENGINE_PORT, INGRESS_URL, ADMIN_URL } = process.env;
if (ENGINE_PORT === undefined || INGRESS_URL === undefined || ADMIN_URL === undefined)
  throw new Error('ENGINE_PORT, INGRESS_URL and ADMIN_URL are needed');
await restate.serve({ services: [order, empty], port: Number(ENGINE_PORT) });
const ingress = new Pool(INGRESS_URL, { connections: 64, pipelining: 1 });
const registered = await fetch(`${ADMIN_URL}/deployments`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ uri: `http://127.0.0.1:${ENGINE_PORT}`, force: true }),
});
if (!registered.ok) throw new Error(`Restate took no deployment: ${registered.status} ${await registered.text()}`);
await serve(
  {
    start: async (orderId) => call(`/order/${orderId}/run/send`),
    report: async (orderId) => call(`/order/${orderId}/report/send`),
    empty: async () => call('/empty/run'),
  },
  async () => ingress.close(),
);

async function call(path: string): Promise<void> {
  const { statusCode, body } = await ingress.request({ method: 'POST', path });
  const text = await body.text();
  if (statusCode >= 300) throw new Error(`Restate answered ${statusCode}: ${text}`);
}

function ignoreTimeout(error: unknown): void {
  if (!(error instanceof restate.TimeoutError)) throw error;
}
