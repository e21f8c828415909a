import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Wakeups } from '#db/connection/wakeups.ts';
import { createLogger } from '#telemetry/logger.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';

let opened: OpenTestDatabase;
beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened.drop());

const logger = createLogger({ level: 'silent', name: 'test', secrets: [] });

describe('the notification listener', () => {
  it('closes at any moment, also while it is connecting', async () => {
    for (let turns = 0; turns < 60; turns += 3) {
      const wakeups = new Wakeups({ channel: 'events', url: opened.url, applicationName: 'test', logger });
      wakeups.listen();
      for (let count = 0; count < turns; count += 1) await turn();
      // A listener that is closed too early would never resolve this.
      await expect(wakeups.close()).resolves.toBeUndefined();
    }
  });
});
