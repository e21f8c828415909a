/** Services of other authors whose styles the product understands, as they are or after entries in `variants.ts`. */
import { describe, it } from 'vitest';
import { ADAPTED_CASES, STYLE_CASES } from '#test/foreign/cases.ts';
import { expectEnds } from '#test/foreign/ends.ts';

describe('production with a service of another style', () => {
  it.for(STYLE_CASES.filter(({ ends }) => ends.order === 'works'))(
    'delivers every kind of work, each for one debit: $style',
    async (foreign) => await expectEnds(foreign),
  );

  it.for(ADAPTED_CASES)(
    'delivers every kind of work after entries in one file: $style',
    async (foreign) => await expectEnds(foreign),
  );
});
