import * as z from 'zod';
import { attentionReason } from '#api/fields/failure-classes.ts';
import { meaningsOf } from '#api/fields/meanings.ts';
import { moneyInput } from '#api/fields/money.ts';
import { CASE_VERDICTS, caseVerdicts, type CaseVerdict } from '#domain/operator/operator-actions.ts';

/** Fields of a change of the price limit, for one or several. */
export const limitFields = {
  max_price: moneyInput.nullable().meta({ description: '`null` removes the limit.' }),
} as const;

/** Fields of a verdict on an open case, for one or several. */
export const verdictFields = {
  case: attentionReason.meta({
    description: 'The reason of the open case, as `operations.attention.reason` shows it.',
  }),
  verdict: z.enum(caseVerdicts as [CaseVerdict, ...CaseVerdict[]]).meta({
    description: meaningsOf(CASE_VERDICTS),
  }),
  next: z.enum(['continue', 'abandon']).optional().meta({
    description: 'With `not_bought`: buy again (default), or abandon it.',
  }),
} as const;
