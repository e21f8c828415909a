import { expect, it, vi } from 'vitest';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import type { Wakeups } from '#db/connection/wakeups.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { acceptTestOrder, TEST_KEYS } from '#test/support/work/order-rows.ts';
import { ControlledWorkflows, testRelay } from '#test/support/work/relay.ts';

const HOUR = 3_600_000;

let wakeups: Wakeups;
const opened = disposedAtEnd(await openTestDatabase({ onRowsAdded: (queues) => wakeups.wake(queues) }));

it('a wake that fails causes no poll and no further round', async () => {
  let calls = 0;
  const wake = async () => {
    calls += 1;
    throw new Error('Temporal refuses the wake');
  };
  const policy = { ...DEFAULT_POLICY.relay, pollMs: HOUR, pollMaxMs: HOUR };
  const started = testRelay(opened, new ControlledWorkflows(), { endpoints: { wake }, policy });
  ({ wakeups } = started);
  const woken = vi.spyOn(wakeups, 'wake');
  started.relay.start();
  const wanted = { apiKeyId: 'key_test', ownerId: undefined, url: 'https://shop.example.com/', description: null };
  await opened.database.transaction((tx) =>
    addWebhookEndpoint(tx, TEST_KEYS, { ...wanted, eventTypes: ['*'] }, generateWebhookSecret(), new Date()),
  );
  for (const expected of [1, 2]) {
    await acceptTestOrder(opened.database);
    await waitFor('the wake has failed', () => calls >= expected);
  }
  // The poll gives an array; a commit gives the set of queues that it has filled.
  expect(woken.mock.calls.filter(([queues]) => Array.isArray(queues))).toHaveLength(1);
  await started.close();
});
