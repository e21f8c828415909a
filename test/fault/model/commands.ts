/** What callers, operators and the service may do, in any order. Each command ends with {@link World.check}. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import * as z from 'zod';
import { REFUSALS, VERDICTS_OF } from '#domain/operator-actions.ts';
import type { WorkKind } from '#domain/work.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/attention.ts';
import type { HttpAnswer } from '#test/support/http.ts';
import { PACKAGE } from '#test/support/order-desk.ts';
import type { Model, World } from '#test/fault/model/world.ts';

type Command = fc.AsyncCommand<Model, World>;

function command(name: string, run: (model: Model, world: World) => Promise<void>, possible: (model: Model) => boolean = () => true): Command {
  return {
    check: possible,
    run: async (model, world) => {
      await run(model, world);
      await world.check(model);
    },
    toString: () => name,
  };
}

const hasWork = ({ work }: Model): boolean => work.length > 0;

function accepted(model: Model, world: World, kind: WorkKind, id: string, limit: string | null = null): void {
  expect(world.ids).not.toContain(id);
  world.ids.push(id);
  model.work.push({ kind, limit, ended: undefined });
}

const order = fc
  .record({ packageId: fc.constantFrom(PACKAGE.completedAtOnce, 1002, PACKAGE.processingThenCompleted, PACKAGE.staysProcessing, PACKAGE.unavailable), limit: fc.constantFrom(null, '0.01', '9.00') })
  .map(({ packageId, limit }) =>
    command(`order ${packageId}${limit === null ? '' : ` for at most ${limit}`}`, async (model, world) => {
      const id = await world.desk.place(packageId, limit === null ? {} : { max_price: { amount: limit, currency: 'USD' } });
      accepted(model, world, 'order', id, limit);
    }),
  );

const orderTwice = fc.constant(
  command('order the same twice, at once', async (model, world) => {
    const body = { package_id: PACKAGE.completedAtOnce, external_order_id: `ext-${randomUUID()}` };
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all([1, 2].map(() => world.desk.stack.api.post('/v1/orders', body, { headers })));
    const made = answers.filter(({ status }) => status === 202);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made.map((answer) => answer.textAt('id'))).size).toBe(1);
    for (const { status } of answers) expect([202, 409]).toContain(status);
    accepted(model, world, 'order', made[0]!.textAt('id'));
  }),
);

const topUp = fc.record({ which: fc.nat(), packageId: fc.constantFrom(1001, PACKAGE.processingThenCompleted, PACKAGE.staysProcessing) }).map(({ which, packageId }) =>
  command(
    `top up eSIM ${which} with ${packageId}`,
    async (model, world) => {
      const esims = await world.esims(model);
      if (esims.length > 0) accepted(model, world, 'topup', await world.desk.topUp(esims[which % esims.length]!, packageId));
    },
    hasWork,
  ),
);

const subscribe = fc.constantFrom(301, 391, 396).map((plan) =>
  command(`subscribe to VPN plan ${plan}`, async (model, world) => accepted(model, world, 'vpn_subscription', await world.desk.subscribe(plan))),
);

/** Refusals are in order, and say why. */
function expectJudged(answer: HttpAnswer): void {
  if (answer.status === 200 || answer.status === 202) return;
  expect(answer.status, answer.text).toBe(409);
  expect(Object.keys(REFUSALS)).toContain(answer.textAt('refusal'));
}

const act = (name: string, perform: (model: Model, world: World, index: number) => Promise<void>) =>
  fc.nat().map((which) => command(`${name} ${which}`, (model, world) => perform(model, world, which % model.work.length), hasWork));

const retry = act('retry', async (model, world, index) => {
  expectJudged(await world.desk.stack.api.post(`${world.path(model, index)}/retry`, { why: 'again' }));
});

const abandon = act('abandon', async (model, world, index) => {
  const answer = await world.desk.stack.api.post(`${world.path(model, index)}/abandon`, { why: 'no longer wanted' });
  expectJudged(answer);
  if (answer.status === 200 && (await world.show(model, index)).status === 'abandoned') model.work[index]!.ended = 'abandoned';
});

const changeLimit = fc.record({ which: fc.nat(), amount: fc.constantFrom(null, '0.02', '8.00') }).map(({ which, amount }) =>
  command(
    `limit ${which} to ${amount ?? 'nothing'}`,
    async (model, world) => {
      const index = which % model.work.length;
      if (model.work[index]!.kind === 'vpn_subscription') return;
      const answer = await world.desk.stack.api.post(`${world.path(model, index)}/limit`, {
        why: 'agreed',
        max_price: amount === null ? null : { amount, currency: 'USD' },
      });
      expectJudged(answer);
      if (answer.status === 200) model.work[index]!.limit = amount;
    },
    hasWork,
  ),
);

/** More or fewer attempts, shorter or longer waits: none of it lets anything be bought that may not be. */
const changeRetryPolicy = fc
  .record({ which: fc.nat(), attempts: fc.constantFrom(undefined, null, 1, 2, 4), first_wait_seconds: fc.constantFrom(null, 1, 2) })
  .map(({ which, ...change }) =>
    command(
      `retry policy ${which} to ${JSON.stringify(change)}`,
      async (model, world) => {
        expectJudged(await world.desk.stack.api.post(`${world.path(model, which % model.work.length)}/retry-policy`, { why: 'agreed', ...change }));
      },
      hasWork,
    ),
  );

/** A person who has looked at the service's console and wallet, and says what is true. */
const resolve = act('resolve', async (model, world, index) => {
  const { attention } = await world.show(model, index);
  if (attention === null || model.work[index]!.kind !== 'order') return;
  const reason = z.enum(Object.keys(ATTENTION_REASONS) as [AttentionReason, ...AttentionReason[]]).parse(attention.reason);
  const { bought, costsNothing } = await world.truthOf(world.ids[index]!);
  const verdict = bought !== undefined ? 'bought' : costsNothing ? 'not_bought' : undefined;
  if (verdict === undefined || !(VERDICTS_OF[reason] as readonly string[]).includes(verdict)) return;
  expectJudged(
    await world.desk.stack.api.post(`${world.path(model, index)}/resolve`, {
      why: 'seen in the console',
      case: reason,
      verdict,
      ...(bought === undefined ? {} : { service_order_id: bought }),
    }),
  );
});

const cancelVpn = act('cancel', async (model, world, index) => {
  if (model.work[index]!.kind !== 'vpn_subscription') return;
  expectJudged(await world.desk.stack.api.post(`${world.path(model, index)}/cancel`, { why: 'the customer ended it' }));
});

const purchaseFault = fc.constantFrom(
  { kind: 'accepted_but_answer_lost' } as const,
  { kind: 'server_error', after_work: true } as const,
  { kind: 'server_error' } as const,
  { kind: 'connection_reset' } as const,
  { kind: 'truncated_body' } as const,
  { kind: 'rate_limited', retry_after: 1 } as const,
  { kind: 'latency', ms: 700, at: 'answer' } as const,
);

/** Faults that wait for a purchase mostly wait in vain: this one strikes, and nothing but another send or a person settles it. */
const orderInTrouble = purchaseFault.map((fault) =>
  command(`an order whose first send ends in ${fault.kind}, of which the service tells nothing`, async (model, world) => {
    await world.desk.silenceService();
    await world.desk.simulator.onRequest('createOrder', fault);
    accepted(model, world, 'order', await world.desk.place(PACKAGE.completedAtOnce));
  }),
);

const purchaseTrouble = fc
  .record({
    endpoint: fc.constantFrom('createOrder' as const, 'createTopup' as const, 'createVpnOrder' as const),
    fault: purchaseFault,
    count: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ endpoint, fault, count }) =>
    command(`the next ${count} of ${endpoint} end in ${fault.kind}`, (_model, world) => world.desk.simulator.onRequest(endpoint, fault, { count })),
  );

const webhookTrouble = fc
  .constantFrom(
    { kind: 'lost' } as const,
    { kind: 'late', ms: 900 } as const,
    { kind: 'twice' } as const,
    { kind: 'out_of_order', ms: 900 } as const,
    { kind: 'forged' } as const,
    { kind: 'stale_timestamp' } as const,
  )
  .map((fault) => command(`the next webhook is ${fault.kind}`, (_model, world) => world.desk.simulator.onWebhook(undefined, fault)));

const purchaseOutcome = fc
  .record({
    operation: fc.constantFrom('order' as const, 'topup' as const, 'vpn' as const),
    rule: fc.constantFrom(
      { outcome: 'failed_at_once' } as const,
      { outcome: 'failed_at_once', debited: false } as const,
      { outcome: 'failed_at_once', credit_after_ms: null } as const,
      { outcome: 'processing_then_failed', delay_ms: 200 } as const,
    ),
  })
  .map(({ operation, rule }) =>
    command(`the next ${operation} is ${JSON.stringify(rule)}`, (_model, world) => world.desk.simulator.nextPurchases({ operation, ...rule })),
  );

const readsFail = fc.constant(command('the service tells nothing', (_model, world) => world.desk.silenceService()));
const wellAgain = fc.constant(command('the service is well again', (_model, world) => world.calm()));

/** The service sends again what it sent before. */
const oldNews = fc.nat().map((which) =>
  command(
    `webhook ${which} comes once more`,
    async (_model, world) => {
      const sent = (await world.desk.simulator.webhooks()).filter(({ status }) => status !== 'pending');
      if (sent.length > 0) await world.desk.simulator.replayDelivery(sent[which % sent.length]!.id);
    },
    hasWork,
  ),
);

/** The service contradicts itself. */
const contradiction = fc.nat().map((which) =>
  command(
    `the service says the opposite of sale ${which}`,
    async (_model, world) => {
      const ended = (await world.desk.simulator.orders()).filter(({ status }) => status !== 'processing');
      const sale = ended[which % Math.max(ended.length, 1)];
      if (sale === undefined) return;
      const status = sale.status === 'completed' ? 'failed' : 'completed';
      const data = { id: sale.id, external_order_id: sale.external_order_id, status, ...(status === 'completed' ? { esim_id: 'esim-none' } : {}) };
      await world.desk.simulator.sendWebhook({ event: `order.${status}`, data });
    },
    hasWork,
  ),
);

/** Something happens in the meantime: the next command meets work that has gone on. */
const timePasses = fc.nat().map((which) =>
  command(
    `until ${which} has gone on`,
    async (model, world) => {
      const index = which % model.work.length;
      const { status } = await world.show(model, index);
      // Whether it does is not known, for it may wait for something that comes later or never.
      for (let looks = 0; looks < 8 && (await world.show(model, index)).status === status; looks += 1);
    },
    hasWork,
  ),
);

/**
 * Always so many: `fc.commands` begins with the shortest ways, for the sake of shrinking, and a short life is a dull one.
 * A weight says how often a command comes.
 */
export function allCommands(count: number): fc.Arbitrary<Command[]> {
  const command = fc.oneof(
    { weight: 4, arbitrary: order },
    { weight: 4, arbitrary: orderInTrouble },
    { weight: 1, arbitrary: orderTwice },
    { weight: 3, arbitrary: topUp },
    { weight: 2, arbitrary: subscribe },
    { weight: 2, arbitrary: retry },
    { weight: 1, arbitrary: abandon },
    { weight: 1, arbitrary: changeLimit },
    { weight: 1, arbitrary: changeRetryPolicy },
    { weight: 3, arbitrary: resolve },
    { weight: 1, arbitrary: cancelVpn },
    { weight: 2, arbitrary: purchaseTrouble },
    { weight: 2, arbitrary: webhookTrouble },
    { weight: 2, arbitrary: purchaseOutcome },
    { weight: 1, arbitrary: readsFail },
    { weight: 2, arbitrary: wellAgain },
    { weight: 2, arbitrary: oldNews },
    { weight: 1, arbitrary: contradiction },
    { weight: 6, arbitrary: timePasses },
  );
  return fc.array(command, { minLength: count, maxLength: count, size: 'max' });
}
