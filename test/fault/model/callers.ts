import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { ON_UNMET_CONDITIONS, type OnUnmetConditions } from '#domain/cancellation/refund-conditions.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { command, deliveredEsims, type Command } from '#test/fault/model/command.ts';
import { lostAnswer, purchaseFault } from '#test/fault/model/service.ts';
import { endedWithoutEffect, type Model, type World } from '#test/fault/model/world.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { PACKAGE } from '#test/support/work/order-desk.ts';

export const order = fc
  .record({
    packageId: fc.constantFrom(
      PACKAGE.completedAtOnce,
      1002,
      PACKAGE.processingThenCompleted,
      PACKAGE.staysProcessing,
      PACKAGE.unavailable,
    ),
    limit: fc.constantFrom(null, '0.01', '9.00'),
  })
  .map(({ packageId, limit }) =>
    command(`order ${packageId}${limit === null ? '' : ` for at most ${limit}`}`, async (model, world) => {
      const id = await world.desk.place(
        packageId,
        limit === null ? {} : { max_price: { amount: limit, currency: 'USD' } },
      );
      world.accepted(model, id, { kind: 'order', limit });
    }),
  );

export const orderTwice = fc.constant(
  command('order the same twice, at once', async (model, world) => {
    const body = { package_id: PACKAGE.completedAtOnce, external_order_id: `ext-${randomUUID()}` };
    const key = randomUUID();
    const answers = await Promise.all([1, 2].map(() => postOnce(world.desk.stack.api, '/v1/orders', body, key)));
    const made = answers.filter(({ status }) => status === 202);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made.map((answer) => answer.textAt('id'))).size).toBe(1);
    for (const { status } of answers) expect([202, 409]).toContain(status);
    world.accepted(model, made[0]!.textAt('id'), { kind: 'order' });
  }),
);

function withEsim(
  name: string,
  which: number,
  perform: (model: Model, world: World, esim: string) => Promise<void>,
): Command {
  return command(
    name.replace('eSIM', `eSIM ${which}`),
    (model, world) => {
      const esims = deliveredEsims(model);
      return perform(model, world, esims[which % esims.length]!);
    },
    (model) => deliveredEsims(model).length > 0,
  );
}

/** An eSIM that has ended at the service has no top-up options: the API refuses, and nothing is accepted. */
async function recharge(model: Model, world: World, esim: string, packageId: number): Promise<void> {
  const id = await world.desk.topUp(esim, packageId).catch((error: unknown) => {
    if (error instanceof Error && error.message.includes('purchase_not_possible')) return undefined;
    throw error;
  });
  if (id !== undefined) world.accepted(model, id, { kind: 'topup', esim });
}

export const topUp = fc
  .record({
    which: fc.nat(),
    packageId: fc.constantFrom(1001, PACKAGE.processingThenCompleted, PACKAGE.staysProcessing),
  })
  .map(({ which, packageId }) =>
    withEsim(`top up eSIM with ${packageId}`, which, (model, world, esim) => recharge(model, world, esim, packageId)),
  );

const subscribeTo = async (model: Model, world: World, plan: number): Promise<void> =>
  world.accepted(model, await world.desk.subscribe(plan), { kind: 'vpn_subscription' });

export const subscribe = fc
  .constantFrom(301, 391, 396)
  .map((plan) => command(`subscribe to VPN plan ${plan}`, (model, world) => subscribeTo(model, world, plan)));

/** An eSIM has one cancellation. A further one is accepted only if all earlier ones ended without effect. */
async function cancel(model: Model, world: World, esim: string, unmet: OnUnmetConditions): Promise<void> {
  const before = [...model.work.keys()].filter(
    (index) => model.work[index]!.kind === 'cancellation' && model.work[index]!.esim === esim,
  );
  const answer = await postOnce(world.desk.stack.api, `/v1/esims/${esim}/cancel`, { on_unmet_conditions: unmet });
  if (answer.status === 409) {
    expect(answer.textAt('code')).toBe('cancellation_exists');
    expect(before.map((index) => world.ids[index])).toContain(answer.textAt('existing', 'id'));
    const areWithoutEffect = before.every((index) => endedWithoutEffect(model.work[index]!.ended));
    expect(areWithoutEffect, 'all earlier ones ended without effect').toBe(false);
    return;
  }
  expect(answer.status, answer.text).toBe(202);
  for (const index of before) {
    const isWithoutEffect = endedWithoutEffect((await world.show(model, index)).status);
    expect(isWithoutEffect, `${world.ids[index]} ended without effect`).toBe(true);
  }
  world.accepted(model, answer.textAt('id'), { kind: 'cancellation', esim });
}

export const cancelEsim = fc
  .record({ which: fc.nat(), unmet: fc.constantFrom(...ON_UNMET_CONDITIONS) })
  .map(({ which, unmet }) =>
    withEsim(`cancel eSIM (${unmet})`, which, (model, world, esim) => cancel(model, world, esim, unmet)),
  );

const KINDS = {
  order: {
    endpoint: 'createOrder',
    request: async (model: Model, world: World) =>
      world.accepted(model, await world.desk.place(PACKAGE.completedAtOnce), { kind: 'order' }),
  },
  topup: { endpoint: 'createTopup', request: (model, world, esim) => recharge(model, world, esim, 1001) },
  vpn_subscription: { endpoint: 'createVpnOrder', request: (model, world) => subscribeTo(model, world, 301) },
  cancellation: {
    endpoint: 'cancelEsim',
    request: (model, world, esim) => cancel(model, world, esim, 'cancel_without_refund'),
  },
} as const satisfies Record<
  WorkKind,
  { endpoint: string; request: (model: Model, world: World, esim: string) => Promise<void> }
>;

/** Most faults wait for a purchase that never comes. Here it comes, and only a send or an operator can settle it. */
export const orderInTrouble = purchaseFault.map((fault) =>
  command(`an order whose first send ends in ${fault.kind}, without reports of the service`, async (model, world) => {
    await world.silence();
    await world.desk.simulator.onRequest('createOrder', fault);
    await KINDS.order.request(model, world);
  }),
);

/** Every send ends like this, so only the end of the faults or a verdict of an operator settles the work. */
export const outcomeUnknown = fc
  .record({ kind: fc.constantFrom(...WORK_KINDS), which: fc.nat(), fault: lostAnswer })
  .map(({ kind, which, fault }) =>
    withEsim(
      `${kind} of eSIM whose every send ends in ${fault.kind}, without reports of the service`,
      which,
      async (model, world, esim) => {
        await world.silence();
        await world.desk.simulator.onRequest(KINDS[kind].endpoint, fault, { count: null });
        await KINDS[kind].request(model, world, esim);
        await world.isPastSubmission(model, model.work.length - 1);
      },
    ),
  );
