import * as z from 'zod';
import { attentionReason } from '#api/fields/failure-classes.ts';
import { meaningsOf } from '#api/fields/meanings.ts';
import { moneyInput } from '#api/fields/money.ts';
import { CASE_VERDICTS, caseVerdicts, type CaseVerdict } from '#domain/work/operator-actions.ts';

/** What the change of a limit says, of one piece of work or of many. */
export const limitFields = {
  max_price: moneyInput.nullable().meta({ description: '`null` takes the limit away.' }),
} as const;

/** What a verdict on an open case says, of one piece of work or of many. */
export const verdictFields = {
  case: attentionReason.meta({ description: 'The reason of the open case, as `attention.reason` shows it.' }),
  verdict: z.enum(caseVerdicts as [CaseVerdict, ...CaseVerdict[]]).meta({
    description: meaningsOf(CASE_VERDICTS),
  }),
  next: z.enum(['continue', 'abandon']).optional().meta({
    description: 'With `not_bought`: buy anew (the default), or give it up.',
  }),
} as const;
