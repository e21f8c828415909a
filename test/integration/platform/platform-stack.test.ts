import { describe, expect, it } from 'vitest';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';

describe('the whole product as child processes', () => {
  it('processes an order from the REST call to the eSIM, also after the death of its worker', async () => {
    await using stack = await startStack({
      environment: RARE_UPKEEP,
      simulator: { SIMULATOR_PROCESSING_DELAY: '500ms' },
    });
    const first = await stack.order({ package_id: 2001 });
    expect(first.status).toBe(202);
    await stack.orderReaches(first.textAt('id'), ['completed']);

    const second = await stack.order({ package_id: 9001 });
    await stack.kill('worker');
    await stack.start('worker');
    const completed = await stack.orderReaches(second.textAt('id'), ['completed']);
    const activation = await stack.api.get(`/v1/esims/${completed.textAt('esim_id')}/activation`);
    expect(activation.textAt('activation_code')).toMatch(/^LPA:1\$/);
  });

  it('stops on request without remaining work', async () => {
    const stack = await startStack({ start: ['simulator', 'api'] });
    await stack.stop();
    expect(await stack.process('api').exit()).toEqual({ code: 0, signal: null });
    expect(await stack.process('simulator').exit()).toEqual({ code: 0, signal: null });
  });
});
