import { describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';

// One test waits for the deadline of a send, so the deadline is short. The next send must precede the reconciler.
const environment = {
  ...RARE_UPKEEP,
  'purchase.send_deadline': '6s',
  'purchase.send_lease': '8s',
  'purchase.send_activity_timeout': '16s',
  'reconciler.silent_after': '30s',
};
const stack = disposedAtEnd(await startStack({ environment }));
const desk = checkedDesk(stack);

describe('a purchase of unknown outcome', () => {
  it.each([
    ['the answer was lost', { kind: 'accepted_but_answer_lost' }],
    ['the answer was cut off', { kind: 'truncated_body' }],
    ['the service never answered', { kind: 'hang', after_work: true }],
  ] as const)('because %s is sent again with the same key and bytes, and costs one debit', async (_why, fault) => {
    await desk.silenceService();
    await desk.simulator.onRequest('createOrder', fault);
    const id = (await desk.complete(1001)).textAt('id');
    const [sends, ...otherAttempts] = await desk.sends(id);
    expect(otherAttempts).toEqual([]);
    expect(sends).toHaveLength(2);
    expect(new Set(sends!.map(({ body_sha256: hash }) => hash)).size).toBe(1);
    expect(sends![0]).toMatchObject({ result_status: 201 });
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
    expect(await desk.events(id)).toContain('attempt.unknown');
  });

  it('because the connection broke before the request was processed is sent again and bought once', async () => {
    await desk.silenceService();
    await desk.simulator.onRequest('createOrder', { kind: 'connection_reset' });
    const id = (await desk.complete(1001)).textAt('id');
    const [sends] = await desk.sends(id);
    expect(sends!.map(({ result_status: status }) => status)).toEqual([null, 201]);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('because the answer lacked required fields is looked up, not sent again', async () => {
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await desk.simulator.onRequest('createOrder', {
      kind: 'answer',
      status: 201,
      body: '{"id":"1"}',
      after_work: true,
    });
    const id = (await desk.complete(1001)).textAt('id');
    expect((await desk.sends(id)).flat()).toHaveLength(1);
    expect(await desk.events(id)).toContain('attempt.found');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('is resolved by a webhook that arrives before the next send', async () => {
    await desk.refuseReads();
    await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    const id = (await desk.complete(1001)).textAt('id');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
    expect(await desk.attempts(id)).toHaveLength(1);
  });
});

describe('an order at a service', () => {
  it('that answers 409 to a repeated key is looked up', async () => {
    await desk.simulator.dialect('conflicts');
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    const id = (await desk.complete(1001)).textAt('id');
    const [sends] = await desk.sends(id);
    expect(sends!.map(({ status }) => status)).toEqual([null, 409]);
    expect(await desk.events(id)).toContain('attempt.found');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('that checks the balance before the key stays possibly bought after a 402', async () => {
    await desk.simulator.dialect('balance_first');
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    // The balance is enough for one purchase.
    await desk.simulator.setPackage(1003, { price_for_reseller: '60000.00' });
    try {
      const id = await desk.place(1003);
      await waitFor('the service answers 402', async () =>
        (await desk.sends(id)).flat().some(({ status }) => status === 402),
      );
      // At the end the webhook reports the purchase.
      const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
      const [lost] = await desk.simulator.webhooks(sold!.id);
      await desk.simulator.replayDelivery(lost!.id);
      await desk.reaches(id, 'completed');
      const events = await desk.events(id);
      expect(events).not.toContain('order.held');
      expect(await desk.movements(id)).toEqual(['debit 60000.00']);
    } finally {
      await desk.simulator.setPackage(1003, { price_for_reseller: '11.90' });
      await desk.simulator.deposit('60000.00');
    }
  });

  it('that executes concurrent sends of one key is sent once at a time', async () => {
    // The answer takes longer than our deadline, so the next send is due while the first is still processed.
    await desk.simulator.dialect('concurrent_keys');
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms: 6_500, at: 'answer' });
    await desk.silenceService();
    const id = (await desk.complete(1001)).textAt('id');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});
