import { describe, expect, it } from 'vitest';
import {
  FIRST_PURCHASE_CHECK_ADVICE,
  judgeFirstPurchaseCheck,
  notLookedYet,
  type Sighting,
} from '#domain/gate/first-purchase-check.ts';
import { PURCHASE_KINDS } from '#domain/work/kinds.ts';

const MOST_CHARACTERS = 1_200;

const NOTHING: Sighting = { problems: [], evidence: [], missing: [] };
const judge = (sighting: Partial<Sighting>) => judgeFirstPurchaseCheck('order', { ...NOTHING, ...sighting });
const whyOf = (sighting: Partial<Sighting>) => {
  const found = judge(sighting);
  return found.kind === 'unseen' ? found.reason : undefined;
};

describe('the hold before the first purchase check', () => {
  it('ends with one piece of evidence, even with other evidence missing', () => {
    const seen = 'GET /orders shows a completed purchase';
    const judged = judge({ evidence: [seen], missing: ['GET /openapi.json: it answered 404'] });
    expect(judged).toEqual({ kind: 'seen', evidence: `${seen}.` });
  });

  it('remains when a shape differs, even with evidence, and names the call and the field', () => {
    const problem = 'GET /packages: it answered 200, but its body lacks or misstates data.0.price_for_reseller';
    expect(whyOf({ problems: [problem], evidence: ['the document matches'] })).toContain(`${problem}.`);
  });

  it('remains without evidence, and names the missing evidence and the command to run', () => {
    const reason = whyOf({ missing: ['GET /orders: it shows no purchase that was completed'] });
    expect(reason).toContain('GET /orders: it shows no purchase that was completed.');
    for (const command of ['sandbox tour', 'contract check openapi.json --record', 'gate release'])
      expect(reason).toContain(`\`npx reseller ${command}\``);
  });

  it.each(PURCHASE_KINDS)('has a text for %s of limited length and without control characters', (kind) => {
    const problems = Array.from({ length: 50 }, (_, index) => `GET /x${index}: ${'\u0000é\n'.repeat(10_000)}`);
    const found = judgeFirstPurchaseCheck(kind, { ...NOTHING, problems });
    const reason = found.kind === 'unseen' ? found.reason : '';
    expect(reason.length).toBeLessThanOrEqual(MOST_CHARACTERS);
    expect(reason).not.toMatch(/\p{C}/u);
    expect(reason).toContain('There are 46 more.');
    for (const text of [reason, notLookedYet(kind)]) expect(text).toContain(FIRST_PURCHASE_CHECK_ADVICE);
  });

  it('limits the length of the evidence as well', () => {
    const found = judge({ evidence: Array.from({ length: 50 }, () => 'x'.repeat(10_000)) });
    expect(found.kind === 'seen' && found.evidence.length <= MOST_CHARACTERS).toBe(true);
  });
});
