/** The check before the first purchase, at services of other authors: the free reads, over HTTP. */
import { afterEach, describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { PURCHASE_KINDS } from '#domain/work/kinds.ts';
import { ADAPTED_CASES, STYLE_CASES, type ForeignCase } from '#test/foreign/cases.ts';
import { ACCOUNT } from '#test/foreign/service/books.ts';
import { ForeignService } from '#test/foreign/service/service.ts';
import { MemoryTokenStore } from '#test/support/memory-token-store.ts';
import { VARIANTS } from '#upstream/contract/variants.ts';
import { lookAtService } from '#upstream/first-purchase-check.ts';
import { openService } from '#upstream/service.ts';

const DEADLINE_MS = 60_000;
const usual = { ...VARIANTS };
afterEach(() => void Object.assign(VARIANTS, usual));

/** What the check says about each kind of purchase. */
async function lookAt({ style, behaviour, adapted }: ForeignCase) {
  Object.assign(VARIANTS, adapted);
  const foreign = new ForeignService(style, behaviour);
  const service = openService({
    baseUrl: await foreign.start(),
    mode: 'production',
    ...ACCOUNT,
    deviceName: 'test',
    capabilities: ALL_CAPABILITIES,
    deadlineMs: DEADLINE_MS,
    tokens: new MemoryTokenStore(),
    now: Date.now,
  });
  try {
    const kinds = PURCHASE_KINDS;
    return await lookAtService(service.client, { kinds, capabilities: ALL_CAPABILITIES, deadlineMs: DEADLINE_MS });
  } finally {
    await service.close();
    await foreign.stop();
  }
}

describe('the check before the first purchase', () => {
  it.for([...STYLE_CASES, ...ADAPTED_CASES].filter(({ ends }) => ends.order === 'works'))(
    'has evidence and no problem for a style that is understood: $style, adapted $adapted',
    async (foreign) => {
      const evidence: unknown = expect.arrayContaining([expect.any(String)]);
      for (const [kind, seen] of await lookAt(foreign)) expect(seen, kind).toMatchObject({ problems: [], evidence });
    },
  );

  const others = STYLE_CASES.filter(({ ends }) => ends.order !== 'works');
  it.for(others)('names the field of a style that is not understood: $style', async (foreign) => {
    for (const [kind, { problems }] of await lookAt(foreign)) {
      const end = foreign.ends[kind];
      expect(problems.join('\n'), kind).toContain(typeof end === 'object' && 'held' in end ? end.held : 'no end');
    }
  });
});
