import { describe, it } from 'vitest';
import { BEHAVIOUR_CASES } from '#test/foreign/cases.ts';
import { expectEnds } from '#test/foreign/ends.ts';

describe('production with a service that behaves differently', () => {
  it.for(BEHAVIOUR_CASES)('has the end that the table says: $what', async (foreign) => await expectEnds(foreign));
});
