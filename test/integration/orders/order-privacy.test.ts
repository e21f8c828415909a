import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';
import { orderRequestBytes } from '#upstream/client/request-bytes.ts';

const IMEI = '490154203237518';

const stack = disposedAtEnd(await startStack({ environment: RARE_UPKEEP }));
const desk = checkedDesk(stack);
const operator = disposedAtEnd(await TemporalOperator.connect(stack));

// What must not appear of any other secret is searched for in `abuse/canaries.test.ts`.
describe('a secret or personal field of an order', () => {
  it('reaches the service, and like its answers appears in no history in plain text, unlike search attributes', async () => {
    await desk.simulator.setPackage(1009, { available: false });
    const id = await desk.place(1009, { device_imei: IMEI });
    await desk.reaches(id, 'held');
    await desk.simulator.setPackage(1009, { available: true });
    await desk.reaches(id, 'completed');
    await operator.runReaches(id, 'COMPLETED');
    const traces = (await operator.rawTraces(id)).toString('latin1');
    expect((await stack.api.get(`/v1/orders/${id}/timeline`)).text).toContain('The service answered 422');
    expect(traces).not.toContain('The service answered');
    expect(traces).not.toContain('Held (');
    const [attempt] = await desk.attempts(id);
    const body = orderRequestBytes({ packageId: 1009, reference: attempt!.reference, deviceImei: IMEI });
    const [sent] = (await desk.sends(id)).flat();
    expect(sent!.body_sha256).toBe(createHash('sha256').update(body).digest('hex'));
    expect(traces).not.toContain(attempt!.id);
    expect(traces).not.toContain(attempt!.idempotencyKey);
    // The control: these texts are expected in plain text, so they prove that the search works.
    expect(traces).toContain('package_unavailable');
    expect(traces).toContain(attempt!.reference);
  });
});
