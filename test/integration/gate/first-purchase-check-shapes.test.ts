/** Production with differently shaped answers: the order is delivered, or nothing is bought and the field is named. */
import { afterEach, describe, expect, it } from 'vitest';
import { SHAPES, type ShapeName } from '#simulator/shapes/shape.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { type Stack, startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
});

async function start(shape: ShapeName) {
  stack = await startStack({
    environment: { ...RARE_UPKEEP, SERVICE_MODE: 'production', SERVICE_HEADER_PREFIX: SHAPES[shape].header_prefix },
    simulator: { SIMULATOR_APPROVED: 'true', SIMULATOR_PRODUCTION_BALANCE: '1000.00', SIMULATOR_SHAPE: shape },
  });
  return { stack, desk: new OrderDesk(stack) };
}

describe('an order in production', () => {
  it.each<[ShapeName, string]>([
    [
      'minor_units',
      'GET /packages: it answered 200, but in its data[].price_for_reseller every price is a whole number',
    ],
    ['no_references', 'external_order_id'],
  ])('is held before any send, with the name of the field: %s', async (shape, field) => {
    const { stack: running, desk } = await start(shape);
    const id = await desk.place(PACKAGE.completedAtOnce);
    const held = await desk.reaches(id, 'held');
    expect(held.at('failure', 'class')).toBe('purchases_paused');
    await expect.poll(async () => await whyHeld(running)).toContain(field);
    expect(await new SimulatorAdmin(running.simulator).requests('createOrder')).toEqual([]);
  });

  it.each<[ShapeName]>([['framework'], ['data_named']])(
    'is delivered by a service of another shape: %s',
    async (shape) => {
      const { desk } = await start(shape);
      const orders = [
        await desk.complete(PACKAGE.completedAtOnce),
        await desk.complete(PACKAGE.processingThenCompleted),
      ];
      expect(orders.map((order) => order.at('status'))).toEqual(['completed', 'completed']);
    },
  );
});

/** The list of pauses with their reasons. */
async function whyHeld({ api }: Stack): Promise<string> {
  const { body } = await api.get('/v1/purchase-gate/pauses');
  return JSON.stringify(body);
}
