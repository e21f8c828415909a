import { describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
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
    ['the answer was lost', { kind: 'accepted_but_answer_lost' }, 201],
    ['the service never answered', { kind: 'hang', after_work: true }, 201],
    ['the connection broke before the request was processed', { kind: 'connection_reset' }, null],
  ] as const)(
    'because %s is sent again with the same key and bytes, and costs one debit',
    async (_why, fault, result) => {
      await desk.silenceService();
      await desk.simulator.onRequest('createOrder', fault);
      const id = (await desk.complete(1001)).textAt('id');
      const [sends, ...otherAttempts] = await desk.sends(id);
      expect(otherAttempts).toEqual([]);
      expect(sends!.map(({ result_status: status }) => status)).toEqual([result, 201]);
      expect(new Set(sends!.map(({ body_sha256: hash }) => hash)).size).toBe(1);
      expect(await desk.movements(id)).toEqual(['debit 2.40']);
      expect(await desk.events(id)).toContain('attempt.unknown');
    },
  );

  it('because the answer lacked required fields is looked up, not sent again', async () => {
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const unread = { kind: 'answer', status: 201, body: '{"id":"1"}', after_work: true } as const;
    await desk.simulator.onRequest('createOrder', unread);
    const id = (await desk.complete(1001)).textAt('id');
    expect((await desk.sends(id)).flat()).toHaveLength(1);
    expect(await desk.events(id)).toContain('attempt.found');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});
