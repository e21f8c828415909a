import { setImmediate as turn } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { expect, it } from 'vitest';
import type { Database } from '#db/connection/database.ts';
import type { WalletReadings } from '#fulfilment/purchase/wallet-readings.ts';
import { createLogger } from '#telemetry/logger.ts';
import { DebitWatch } from '#worker/debit-watch.ts';

/** Its database cannot be read, so each measurement ends at once, and the next purchase begins another one. */
function watchWithoutDatabase() {
  let measurements = 0;
  const run = async () => {
    measurements += 1;
    throw new Error('the database is down');
  };
  const watch = new DebitWatch({
    database: { run } as unknown as Database,
    readings: {} as WalletReadings,
    policy: { settleDelayMs: 1_000, unseenDebitDelayMs: 60_000 },
    logger: createLogger({ level: 'silent', name: 'test' }),
  });
  return { watch, measurements: () => measurements };
}

const MANY = 20_000;

it('keeps nothing of the measurements that have ended, however many there were', async () => {
  const { watch, measurements } = watchWithoutDatabase();
  // After a full garbage collection.
  const arrays = () => Number(queryObjects(Array));
  const before = arrays();
  for (let n = 1; n <= MANY; n += 1) {
    watch.notePurchase('order');
    await turn();
  }
  expect(measurements()).toBe(MANY);
  expect(arrays() - before).toBeLessThan(MANY / 10);
  await watch.stop();
});
