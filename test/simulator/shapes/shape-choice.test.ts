import { expect, it } from 'vitest';
import { SHAPES } from '#simulator/shapes/shape.ts';
import { startShaped } from '#test/simulator/shapes/shape-support.ts';
import { startTestSimulator } from '#test/simulator/support.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

it('ids that are numbers name the same resources in paths, in esim_id and for operators, also after a restart', async () => {
  const dataFile = `${temporaryFolder('shape')}/simulator.sqlite`;
  const ids = { order: 0, esim: 0 };
  {
    await using simulator = await startShaped({ name: 'number_ids' }, { dataFile });
    const answer = await simulator.order();
    Object.assign(ids, { order: answer.at('id'), esim: answer.at('esim_id') });
    expect([typeof ids.order, typeof ids.esim, ids.order === ids.esim]).toEqual(['number', 'number', false]);
    expect((await simulator.topUp(String(ids.esim))).at('esim_id')).toBe(ids.esim);
  }
  await using simulator = await startTestSimulator({ dataFile });
  expect((await simulator.sandbox.get(`/orders/${ids.order}`)).at('id')).toBe(ids.order);
  expect((await simulator.sandbox.get(`/topups?esim_id=${ids.esim}`)).at('data', 0, 'esim_id')).toBe(ids.esim);
  expect((await simulator.admin.get(`/esims/${ids.esim}`)).status).toBe(200);
  for (const path of ['/orders/1', `/orders/${ids.esim}`, '/esims/99999992'])
    expect((await simulator.sandbox.get(path)).status).toBe(404);
});

it('a choice changes single properties of a named shape, for all clients at once, until a reset', async () => {
  await using simulator = await startTestSimulator({ shape: 'money_numbers' });
  const properties = { money: 'minor', without: ['order.failure'] };
  const chosen = await simulator.admin.post('/shape', { name: 'data_envelope', properties });
  expect(chosen.at('properties')).toEqual({ ...SHAPES.data_envelope, ...properties });
  expect((await simulator.order()).at('data', 'price_for_reseller')).toBe(240);
  expect((await simulator.admin.post('/reset')).at('shape', 'name')).toBe('money_numbers');
});
