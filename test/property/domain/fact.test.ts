import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isNotThereYet } from '#domain/service/fact.ts';
import { serviceEsim } from '#upstream/contract.ts';
import { readAnswer } from '#upstream/reading/answer.ts';

it('an eSIM with any iccid is read, and its iccid is usable, not there yet, or reported as misstated', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.stringMatching(/^[0-9]{17,23}$/)), (iccid) => {
      const read = readAnswer(serviceEsim, { id: 'e', status: 'new', iccid, activation_code: null }, 'esim');
      if (!read.ok) throw new Error('it was not read');
      const isUsable = (text: unknown) => typeof text === 'string' && /^[0-9]{18,22}$/.test(text);
      const isThere = !isNotThereYet(iccid);
      expect(read.value.iccid ?? null).toBe(isThere && isUsable(iccid) ? iccid : null);
      expect(read.value.misstated ?? []).toEqual(isThere && !isUsable(iccid) ? ['iccid'] : []);
    }),
  );
});
