/** A document that does not list the values of a state is no evidence, although it is compatible. */
import { expect, it } from 'vitest';
import { judgeFirstPurchaseCheck } from '#domain/gate/first-purchase-check.ts';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { PURCHASE_KINDS } from '#domain/work/kinds.ts';
import { DIALECTS } from '#simulator/behaviour/dialect.ts';
import { describedService } from '#simulator/service/openapi.ts';
import { SHAPES } from '#simulator/shapes/shape.ts';
import { Shaper } from '#simulator/shapes/shaper.ts';
import { LookedAt } from '#test/simulator/shapes/first-purchase-check-support.ts';
import { checkContract, readDocument, type JsonObject } from '#upstream/contract-check.ts';

/** The document of a service without the values of its states, like many real documents. */
function withoutWords(shape: keyof typeof SHAPES): JsonObject {
  const described = describedService(DIALECTS.replays, 'production', new Shaper(SHAPES[shape]));
  const text = JSON.stringify(described, (key, value: unknown) =>
    key === 'enum' || key === 'const' ? undefined : value,
  );
  return readDocument(Buffer.from(text));
}

it('a document without the values of states is compatible, and allows no purchase', async () => {
  const document = withoutWords('other_words');
  expect(checkContract(document, ALL_CAPABILITIES).compatible).toBe(true);
  await using service = await LookedAt.start();
  await service.simulator.admin.post('/shape', { name: 'other_words' });
  const seen = await service.look({ document });
  for (const kind of PURCHASE_KINDS) {
    expect(seen[kind].evidence).toEqual([]);
    const judged = judgeFirstPurchaseCheck(kind, seen[kind]);
    expect(judged).toMatchObject({
      kind: 'unseen',
      reason: expect.stringContaining('status is described without its possible values'),
    });
  }
});
