import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { dialectNames } from '#simulator/behaviour/dialect.ts';
import { SHAPES, shapeNames, type Shape } from '#simulator/shapes/shape.ts';
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
    await using simulator = await startShaped({ name }, { webhook: { url: receiver.url } });
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

/** Any value of each property, together with any dialect. */
const anyShape = fc.record({
  envelope: fc.constantFrom(...(['none', 'data', 'data_named', 'named'] as const)),
  list: fc.constantFrom(...(['data', 'data_named', 'items', 'array'] as const)),
  ids: fc.constantFrom(...(['text', 'number'] as const)),
  package_ids: fc.constantFrom(...(['number', 'text'] as const)),
  money: fc.constantFrom(...(['text', 'number', 'object', 'minor'] as const)),
  currency: fc.constantFrom(...(['upper', 'lower'] as const)),
  times: fc.constantFrom(...(['utc', 'offset', 'no_zone', 'epoch_seconds', 'epoch_milliseconds'] as const)),
  status_words: fc.constantFrom(...(['ours', 'other', 'upper', 'canceled'] as const)),
  status_field: fc.constantFrom(...(['status', 'state'] as const)),
  paging: fc.constantFrom(...(['cursor', 'page', 'offset', 'link', 'has_more', 'none'] as const)),
  optional_fields: fc.constantFrom(...(['all', 'missing', 'null'] as const)),
  extra_fields: fc.boolean(),
  without: fc.subarray(['order.esim_id', 'vpn_subscription.access', 'transaction.order_id', 'esim.installed_at']),
  failure: fc.constantFrom(...(['object', 'text'] as const)),
  token_type: fc.constantFrom(...(['Bearer', 'bearer', 'null'] as const)),
  odd_package: fc.boolean(),
  errors: fc.constantFrom(...(['code', 'problem', 'message', 'fields', 'html', 'empty'] as const)),
  header_prefix: fc.constantFrom('X-Service', 'X-Acme', 'Brand'),
  event_field: fc.constantFrom(...(['event', 'type'] as const)),
  event_data: fc.constantFrom(...(['bare', 'named'] as const)),
} satisfies { [Name in keyof Shape]: fc.Arbitrary<Shape[Name]> });

describe('in any mixture of shapes and in any dialect', () => {
  it('the document describes every answer and every webhook', async () => {
    const holdsFor = async (properties: Shape, dialect: (typeof dialectNames)[number]): Promise<void> => {
      await using simulator = await startShaped({ properties }, { dialect });
      expect(problemsWith(simulator.description, await callEverything(simulator))).toEqual([]);
      expect(problemsWithWebhooks(simulator.description, await webhookBodies(simulator))).toEqual([]);
    };
    const served = fc.constantFrom(...dialectNames.filter((name) => name !== 'bare'));
    await fc.assert(fc.asyncProperty(anyShape, served, holdsFor), { numRuns: 5 });
  });
});
