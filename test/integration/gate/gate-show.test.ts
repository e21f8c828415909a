import { beforeEach, expect, it } from 'vitest';
import { showGate } from '#cli/operator/gate.ts';
import { newId } from '#db/connection/ids.ts';
import { enqueue } from '#db/gate/waits.ts';
import { gateCircuits, gateWallet } from '#db/schema.ts';
import type { Money } from '#domain/money/money.ts';
import { captured } from '#test/support/cli-output.ts';
import { keyOf, startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';

/** `GET /v1/purchase-gate` and `reseller gate show`, with rows as the gate writes them. */
let api: TestApi;
let caller: HttpClient;

beforeEach(async () => {
  api = await startTestApi();
  caller = await api.caller();
  return () => api[Symbol.asyncDispose]();
});

const gate = () => caller.get('/v1/purchase-gate');

/** The lines of `gate show`. */
async function shown(): Promise<string[]> {
  const output = captured();
  await showGate({ api: api.baseUrl }, { RESELLER_API_KEY: keyOf(caller) }, output, () => api.clock.now);
  return output.text().split('\n');
}

/** Holds an order for money. @param age of its acceptance in seconds. */
async function holds(age: number, price?: Money): Promise<string> {
  const work = { kind: 'order', id: newId('order') } as const;
  const acceptedAt = new Date(TEST_NOW - age * 1_000);
  const waiting = { work, acceptedAt, price, apiKeyId: 'key_test', mayHaveBought: false } as const;
  await api.database.transaction((tx) =>
    enqueue(tx, { ...waiting, barrier: 'wallet', failureClass: 'insufficient_balance' }, acceptedAt),
  );
  return work.id;
}

it.each([
  ['with the age of its last reading', true, 'Wallet: '],
  ['as last known while the service does not answer', false, 'Wallet: not known now. Last known: '],
])('the wallet is shown %s', async (_how, current, begins) => {
  expect((await gate()).at('wallet')).toBeNull();
  expect(await shown()).toContain('Wallet: not known');
  // A balance without its reading is not used until it has been read again.
  const stored = { balanceAmount: '99.50', balanceCurrency: 'USD', readsStarted: 4, reading: current ? 4 : null };
  const readAt = new Date(TEST_NOW - 12 * 60_000);
  await api.database.run((db) => db.insert(gateWallet).values({ ...stored, readAt }));
  const balance = { amount: '99.50', currency: 'USD' };
  const wallet = { balance, reserved: { amount: '0.00' }, read_at: '2030-01-31T11:48:00.000Z', current };
  expect((await gate()).body).toMatchObject({ wallet });
  expect(await shown()).toContain(
    `${begins}99.50 USD, of which 0.00 USD are reserved; read 12 minutes ago (2030-01-31T11:48:00.000Z)`,
  );
});

it('an open circuit shows the time of its next try, and afterwards that the next purchase is the try', async () => {
  const open = { name: 'service_down', state: 'open', detail: 'No answer.' } as const;
  const probeAt = new Date(TEST_NOW + 5_000);
  await api.database.run((db) => db.insert(gateCircuits).values({ ...open, probeAt }));
  expect(await shown()).toContain('Circuit service_down: open, next try at 2030-01-31T12:00:05.000Z. Last: No answer.');
  api.clock.now += 5_000;
  expect(await shown()).toContain(
    'Circuit service_down: open, next try due now: the next purchase is sent as a test. Last: No answer.',
  );
});

it('held purchases are shown with about how much money they need', async () => {
  expect((await gate()).at('held')).toEqual([]);
  await holds(10, { amount: '9.80', currency: 'USD' });
  await holds(20, { amount: '6.00', currency: 'USD' });
  const oldest = await holds(30, { amount: '3.455', currency: 'EUR' });
  await holds(5);
  expect((await gate()).at('held')).toEqual([
    {
      held_at: 'wallet',
      failure_class: 'insufficient_balance',
      count: 4,
      needed: [
        { amount: '3.455', currency: 'EUR' },
        { amount: '15.80', currency: 'USD' },
      ],
      without_price: 1,
      oldest: { kind: 'order', id: oldest, accepted_at: '2030-01-31T11:59:30.000Z' },
    },
  ]);
  expect(await shown()).toContain(
    'Held at wallet (insufficient_balance): 4 purchases, about 3.455 EUR and 15.80 USD needed, ' +
      `1 without a known price, oldest ${oldest} of 2030-01-31T11:59:30.000Z`,
  );
});
