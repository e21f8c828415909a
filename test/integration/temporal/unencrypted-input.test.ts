import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { EncryptionCodec, FAILURE_CONVERTER_PATH } from '#temporal/codec/payload-codec.ts';
import { connect } from '#temporal/connection.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { keyRingOf, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';
import {
  ACTION_REFUSED,
  changeLimitUpdate,
  deliveriesWaitSignal,
  serviceObservedSignal,
  TASK_QUEUE,
  UNENCRYPTED_INPUT,
} from '#workflows/messages.ts';

const stack = disposedAtEnd(await startStack({ environment: RARE_UPKEEP }));
const desk = new OrderDesk(stack);
const operator = disposedAtEnd(await TemporalOperator.connect(stack));
const connection = await connect({ ...stack.temporal, tls: undefined, apiKey: undefined });
afterAll(() => connection.close());
const { namespace } = stack.temporal;
/** A client without keys, like a web page or any other client of the Temporal server. */
const stranger = new Client({ connection, namespace });
const codec = new EncryptionCodec(keyRingOf(stack));
/** Sends plain text, and decrypts answers. */
const readable = new Client({
  connection,
  namespace,
  dataConverter: {
    failureConverterPath: FAILURE_CONVERTER_PATH,
    payloadCodecs: [{ encode: async (payloads) => payloads, decode: (payloads) => codec.decode(payloads) }],
  },
});

/** An order that its price limit holds. */
async function heldForItsPrice(): Promise<string> {
  const id = await desk.place(PACKAGE.completedAtOnce, { max_price: { amount: '0.10', currency: 'USD' } });
  await desk.reaches(id, 'held');
  return id;
}

const LIMIT = { by: 'the owner', reason: 'cheaper for me', max_price: { amount: '99.00', currency: 'USD' } };

describe('unencrypted input of a workflow', () => {
  it('is refused as an update with a sentence that names the alternative, and buys nothing', async () => {
    const id = await heldForItsPrice();
    const handle = stranger.workflow.getHandle(`order/${id}`);
    // The refusal is encrypted like all payloads of a worker, and readable with the keys.
    await expect(handle.executeUpdate(changeLimitUpdate, { args: [LIMIT] })).rejects.toThrow('Workflow Update failed');
    const refused = readable.workflow.getHandle(`order/${id}`).executeUpdate(changeLimitUpdate, { args: [LIMIT] });
    const message = expect.stringMatching(/not encrypted.*codec server.*npx reseller temporal/s);
    await expect(refused).rejects.toMatchObject({ cause: { type: ACTION_REFUSED, message } });
    const audit = await stack.api.get(`/v1/audit-log?subject_id=${id}`);
    expect(audit.at('data')).toEqual([]);
    expect((await desk.reaches(id, 'held')).at('max_price', 'amount')).toBe('0.10');
    expect(await desk.movements(id)).toEqual([]);

    await operator.order(id).executeUpdate(changeLimitUpdate, { args: [LIMIT] });
    await desk.reaches(id, 'completed');
  });

  it('is dropped as a signal, with or without an argument, and the order continues', async () => {
    const id = await heldForItsPrice();
    const handle = stranger.workflow.getHandle(`order/${id}`);
    await handle.signal(serviceObservedSignal, {
      inboxId: 'in_1',
      source: 'webhook',
      attemptNumber: 1,
      outcome: 'completed',
      decision: 'contradiction',
    });
    await handle.signal(serviceObservedSignal.name);
    await handle.signal(serviceObservedSignal.name, 'not an observation');
    await handle.signal('operatorActed', ['plain'] as never);
    await operator.order(id).executeUpdate(changeLimitUpdate, { args: [LIMIT] });
    await desk.reaches(id, 'completed');
    const { events } = await operator.order(id).fetchHistory();
    expect((events ?? []).filter((event) => event.workflowTaskFailedEventAttributes != null)).toEqual([]);
    expect(stack.process('worker').output()).toContain('a signal was dropped');
  });

  it('ends a run that was started with it, and the same id can be started by the product', async () => {
    const id = randomUUID();
    const started = await stranger.workflow.start('orderWorkflow', {
      workflowId: `order/${id}`,
      taskQueue: TASK_QUEUE,
      args: [{ work: { kind: 'order', id }, policy: DEFAULT_POLICY.purchase }],
    });
    await expect(started.result()).rejects.toThrow('binary/encrypted');
    expect((await started.describe()).status.name).toBe('FAILED');
    const endpoint = await stranger.workflow.signalWithStart('webhookEndpointWorkflow', {
      workflowId: `webhook_endpoint/${id}`,
      taskQueue: TASK_QUEUE,
      args: [{ endpointId: id }],
      signal: deliveriesWaitSignal,
      signalArgs: [{ urgent: true }],
    });
    await expect(endpoint.result()).rejects.toThrow('binary/encrypted');
    const cause = { type: UNENCRYPTED_INPUT, message: expect.stringContaining('not encrypted') };
    for (const workflowId of [`order/${id}`, `webhook_endpoint/${id}`])
      await expect(operator.client.workflow.getHandle(workflowId).result()).rejects.toMatchObject({ cause });
  });
});
