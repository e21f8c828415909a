import { beforeAll, describe, expect, it } from 'vitest';
import { SHAPES, shapeNames } from '#simulator/shapes/shape.ts';
import {
  callEverything,
  problemsWith,
  problemsWithWebhooks,
  startShaped,
  webhookBodies,
  type JudgedCall,
} from '#test/simulator/shapes/shape-support.ts';
import { startReceiver } from '#test/simulator/support.ts';
import { EVENT_KINDS, serviceHeaders } from '#upstream/contract.ts';

/** The answers in the plain shape, to validate by the documents of other shapes. */
let plain: { readonly calls: readonly JudgedCall[]; readonly bodies: Awaited<ReturnType<typeof webhookBodies>> };
let described: Awaited<ReturnType<typeof startShaped>>['description'];
beforeAll(async () => {
  await using simulator = await startShaped({ name: 'plain' });
  described = simulator.description;
  plain = { calls: await callEverything(simulator), bodies: await webhookBodies(simulator) };
});

describe('in the shape', () => {
  it.each(shapeNames)('%s the document describes every answer, every webhook and nothing else', async (name) => {
    await using receiver = await startReceiver();
    await using simulator = await startShaped({ name }, { webhookUrl: receiver.url });
    const calls = await callEverything(simulator);
    const bodies = await webhookBodies(simulator);
    expect(problemsWith(simulator.description, calls)).toEqual([]);
    expect(problemsWithWebhooks(simulator.description, bodies)).toEqual([]);
    expect(calls.map(({ answer }) => answer.status)).toEqual(plain.calls.map(({ answer }) => answer.status));

    const { event, delivery, timestamp, signature } = serviceHeaders(SHAPES[name].header_prefix);
    const names = [event, delivery, timestamp, signature];
    const { webhooks } = simulator.description.document;
    const inDocument = EVENT_KINDS.map((event) => webhooks[event]?.post.parameters?.map((header) => header.name));
    expect(inDocument).toEqual(EVENT_KINDS.map(() => names));
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
    expect(names.filter((header) => receiver.received[0]?.headers[header.toLowerCase()] === undefined)).toEqual([]);

    // A document that allows everything would have passed until here.
    const isShown =
      problemsWithWebhooks(described, bodies).length > 0 ||
      problemsWith(described, calls).length > 0 ||
      problemsWith(simulator.description, plain.calls).length > 0;
    expect(isShown).toBe(name !== 'plain' && name !== 'branded');
  });
});
