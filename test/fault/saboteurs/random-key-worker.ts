/** A worker with one thing wrong: each send of a purchase has a new idempotency key. The checks must notice. */
import { randomUUID } from 'node:crypto';
import { createWorkActivities } from '#activities/work.ts';
import { readWorkerConfig } from '#config/config.ts';
import { ServiceTokenStore } from '#db/service-tokens.ts';
import { openService } from '#upstream/service.ts';
import { createWorkerParts } from '#worker/parts.ts';
import { runWorker } from '#worker/run.ts';

const config = readWorkerConfig();
const parts = createWorkerParts(config);
const { database, keyRing } = parts;
const { sendDeadlineMs, sendLeaseMs } = config.policy.purchase;
const { client } = openService({
  ...config.service,
  deadlineMs: sendDeadlineMs,
  tokens: new ServiceTokenStore({ database, keyRing, environment: config.service.mode, account: config.service.email }),
  now: Date.now,
});
const sabotaged = createWorkActivities({
  database,
  keyRing,
  service: { ...client, createOrder: (order) => client.createOrder({ ...order, idempotencyKey: randomUUID() }) },
  sendLeaseMs,
  now: Date.now,
});
await runWorker(config, { ...parts, activities: { ...parts.activities, ...sabotaged } });
