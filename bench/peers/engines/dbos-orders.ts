/**
 * On DBOS Transact. Each step is recorded in the database of the orders; an interrupted workflow goes on after its last
 * one.
 *
 * It lacks: a reservation of the wallet, a daily limit, pauses and circuits; a lease, so two processes that recover the
 * same workflow may send at the same time; a reading of the wallet before another attempt; cases, operator actions,
 * holds and deadlines; the books.
 */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { buy, databaseUrl, serve, service, shop } from './app.ts';
import type { Purchase } from './shop.ts';

const RETRIED = { retriesAllowed: true, intervalSeconds: 1, backoffRate: 2, maxAttempts: 10 } as const;
/** The webhook normally comes first; the service is asked when none came. */
const REPORT_WITHIN_S = 60;

const order = DBOS.registerWorkflow(
  async (orderId: string): Promise<void> => {
    const attempt = await DBOS.runStep(async () => shop.prepareAttempt(orderId), { name: 'prepare', ...RETRIED });
    const answer = await DBOS.runStep(async () => buy(orderId, attempt), { name: 'buy', ...RETRIED });
    let purchase: Purchase | 'refused' = answer;
    while (purchase !== 'refused' && purchase.status === 'processing') {
      const { id } = purchase;
      await DBOS.recv('service', REPORT_WITHIN_S);
      purchase = await DBOS.runStep(async () => service.order(id), { name: 'look up', ...RETRIED });
    }
    const bought = purchase;
    if (bought === 'refused' || bought.status === 'failed') {
      await DBOS.runStep(async () => shop.putAside(orderId, 'failed'), { name: 'fail', ...RETRIED });
      return;
    }
    const deliver = async () => shop.deliver(orderId, attempt, bought, await service.esim(bought.esim_id ?? ''));
    await DBOS.runStep(deliver, { name: 'deliver', ...RETRIED });
  },
  { name: 'order' },
);

const empty = DBOS.registerWorkflow(
  async (): Promise<void> => {
    for (const name of ['first', 'second', 'third']) await DBOS.runStep(async () => undefined, { name });
  },
  { name: 'empty' },
);

DBOS.setConfig({ name: 'peer', systemDatabaseUrl: databaseUrl, logLevel: 'warn' });
await DBOS.launch();
await serve(
  {
    start: async (orderId) => void (await DBOS.startWorkflow(order, { workflowID: orderId })(orderId)),
    report: async (orderId) => DBOS.send(orderId, 'news', 'service'),
    empty: async (id) => (await DBOS.startWorkflow(empty, { workflowID: id })()).getResult(),
  },
  async () => DBOS.shutdown(),
);
