/** Services of other authors whose styles the product does not understand. */
import { describe, it } from 'vitest';
import { STYLE_CASES } from '#test/foreign/cases.ts';
import { expectEnds } from '#test/foreign/ends.ts';

describe('production with a service of another style', () => {
  it.for(STYLE_CASES.filter(({ ends }) => ends.order !== 'works'))(
    'buys nothing, and names the field: $style',
    async (foreign) => await expectEnds(foreign),
  );
});
