import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { everythingStored, foundIn } from '#test/support/plain-text.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';
import { orderRequestBytes } from '#upstream/client/request-bytes.ts';

const IMEI = '490154203237518';

// The most detailed log level.
const stack = disposedAtEnd(await startStack({ environment: { ...RARE_UPKEEP, LOG_LEVEL: 'trace' } }));
const desk = new OrderDesk(stack);
const operator = disposedAtEnd(await TemporalOperator.connect(stack));
afterEach(() => desk.checkBooks());

const logs = () => (['api', 'worker'] as const).map((name) => stack.process(name).output()).join('\n');

describe('a secret or personal field of an order', () => {
  it('reaches service and caller, and appears in plain text in neither PostgreSQL, logs nor Temporal', async () => {
    // Held and failed once, so that the history contains failures and their details.
    await desk.simulator.onRequest('createOrder', { kind: 'rate_limited', retry_after: 1 });
    await desk.simulator.nextPurchases({ outcome: 'processing_then_failed', delay_ms: 100 });
    const order = await desk.complete(1001, { device_imei: IMEI });
    const id = order.textAt('id');
    const [first] = await desk.attempts(id);
    const sent = (await desk.sends(id))[0]![0]!;
    const body = orderRequestBytes({ packageId: 1001, reference: first!.reference, deviceImei: IMEI });
    expect(sent.body_sha256).toBe(createHash('sha256').update(body).digest('hex'));

    const activation = await stack.api.get(`/v1/esims/${order.textAt('esim_id')}/activation`);
    const matchingId = activation.textAt('activation_code').split('$')[2]!;
    expect(matchingId.length).toBeGreaterThan(8);
    await operator.runReaches(id, 'COMPLETED');

    const stored = await everythingStored(stack.databaseUrl);
    expect(stored).toContain(id);
    const written = logs();
    expect(written).toContain('request answered');
    const traces = (await operator.rawTraces(id)).toString('latin1');
    expect(traces).toContain(id);
    expect(traces).toContain('binary/encrypted');
    const secrets = {
      IMEI,
      matchingId,
      password: 'simulator-password',
      apiKey: stack.apiKey,
      webhookSecret: stack.webhookSecret,
    };
    expect({
      stored: foundIn(stored, secrets),
      written: foundIn(written, secrets),
      traces: foundIn(traces, secrets),
    }).toEqual({ stored: [], written: [], traces: [] });
  });

  it('from an answer of the service appears in no history in plain text, unlike search attributes', async () => {
    await desk.simulator.setPackage(1009, { available: false });
    const id = await desk.place(1009);
    await desk.reaches(id, 'held');
    await desk.simulator.setPackage(1009, { available: true });
    await desk.reaches(id, 'completed');
    await operator.runReaches(id, 'COMPLETED');
    const traces = (await operator.rawTraces(id)).toString('latin1');
    expect(await stack.api.get(`/v1/orders/${id}/timeline`)).toMatchObject({
      text: expect.stringContaining('The service answered 422'),
    });
    expect(traces).not.toContain('The service answered');
    expect(traces).not.toContain('Held (');
    const [attempt] = await desk.attempts(id);
    expect(traces).not.toContain(attempt!.id);
    expect(traces).not.toContain(attempt!.idempotencyKey);
    // The control: these texts are expected in plain text, so they prove that the search works.
    expect(traces).toContain('package_unavailable');
    expect(traces).toContain(attempt!.reference);
  });
});
