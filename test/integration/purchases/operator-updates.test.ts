import { randomUUID } from 'node:crypto';
import { METADATA_ENCODING_KEY } from '@temporalio/common';
import proto from '@temporalio/proto';
import { workflowMetadataQuery } from '@temporalio/workflow';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { orders } from '#db/schema.ts';
import { EncryptionCodec } from '#temporal/codec/payload-codec.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { keyRingOf, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';
import { HANDLER_DESCRIPTIONS } from '#workflows/handler-descriptions.ts';
import { ACTION_REFUSED, workflowId } from '#workflows/messages.ts';

const { UpdateWorkflowExecutionLifecycleStage: Stage } = proto.temporal.api.enums.v1;

/** Updates from the Temporal UI, which decodes payloads but not failures. */
const stack = disposedAtEnd(await startStack({ environment: RARE_UPKEEP }));
const desk = new OrderDesk(stack);
const temporal = disposedAtEnd(await TemporalOperator.connect(stack));

/** The raw answer of the server, without a data converter. */
async function update(orderId: string, name: string, argument: unknown) {
  const metadata = { [METADATA_ENCODING_KEY]: Buffer.from('json/plain') };
  const plain = { metadata, data: Buffer.from(JSON.stringify(argument)) };
  const { outcome } = await temporal.client.workflowService.updateWorkflowExecution({
    namespace: stack.temporal.namespace,
    workflowExecution: { workflowId: workflowId({ kind: 'order', id: orderId }) },
    waitPolicy: { lifecycleStage: Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED },
    request: {
      meta: { updateId: randomUUID(), identity: 'test' },
      input: { name, args: { payloads: await new EncryptionCodec(keyRingOf(stack)).encode([plain]) } },
    },
  });
  return outcome?.failure;
}

describe('a refused update', () => {
  it('returns its reason in plain text, from its validator and from PostgreSQL, and nothing else', async () => {
    const id = await desk.place(PACKAGE.staysProcessing);
    await desk.reaches(id, 'processing');
    const invalid = await update(id, 'retry', { by: 'Jane Roe' });
    const applicationFailureInfo = { type: ACTION_REFUSED };
    expect(invalid).toMatchObject({ message: expect.stringContaining('Say who acts and why'), applicationFailureInfo });
    expect(await update(id, 'retry', 'hello')).toMatchObject({
      message: expect.stringMatching(/^The argument must be one JSON object, such as \{"by":/),
    });
    const refused = await update(id, 'retry', { by: 'Jane Roe', reason: 'Private words.' });
    const message = expect.stringContaining('Possible now: `resolve`');
    expect(refused).toMatchObject({ message, applicationFailureInfo });
    for (const failure of [invalid, refused]) {
      expect([failure?.stackTrace, failure?.cause, failure?.encodedAttributes]).toEqual(['', null, null]);
      expect(JSON.stringify(failure)).not.toMatch(/Jane|Private/);
    }
  });
});

describe('the first action after a restart of PostgreSQL', () => {
  const reason = 'No longer wanted.';
  const isAbandoned = {
    'its update': async (id: string) => (await update(id, 'abandon', { by: 'Jane Roe', reason })) === null,
    'the API': async (id: string) =>
      (await stack.api.post(`/v1/orders/${id}/abandon`, { reason })).at('status') === 'abandoned',
  };
  it.each(['its update', 'the API'] as const)('by %s waits for the comparison, and is carried out', async (by) => {
    const id = await desk.place(1006, { max_price: { amount: '0.01', currency: 'USD' } });
    await desk.reaches(id, 'held');
    await stack.database.run((db) => db.update(orders).set({ comparedEpoch: 'before' }).where(eq(orders.id, id)));
    expect(await isAbandoned[by](id)).toBe(true);
    await desk.reaches(id, 'abandoned');
  });
});

it('the workflow of an order describes each of its signals, queries and updates with an example', async () => {
  const id = await desk.place(PACKAGE.staysProcessing);
  await desk.reaches(id, 'processing');
  const { definition } = await temporal.order(id).query(workflowMetadataQuery);
  const described = [
    ...(definition?.updateDefinitions ?? []),
    ...(definition?.signalDefinitions ?? []),
    ...(definition?.queryDefinitions ?? []),
  ]
    .filter(({ name }) => !name?.startsWith('__'))
    .map(({ name, description }) => [name, description]);
  const { deliveriesWait: _, ...ofWork } = HANDLER_DESCRIPTIONS;
  expect(Object.fromEntries(described)).toEqual(ofWork);
});
