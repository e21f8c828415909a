import * as z from 'zod';
import { refundCondition, refundConditionJson } from '#api/cancellations/refund-condition-schemas.ts';
import { refundJson, refundOutput } from '#api/cancellations/refund-schemas.ts';
import { esimExpansion, purchaseExpansionsOutput } from '#api/esims/esim-expansions.ts';
import { esimExampleId, esimIdInput } from '#api/esims/esim-schemas.ts';
import { ourId } from '#api/fields/ids.ts';
import { instant, instantJson } from '#api/fields/instant.ts';
import { FILLED_TEXT_PATTERN, filledText } from '#api/fields/text.ts';
import { pageOf } from '#api/lists/page-schemas.ts';
import { customerReferenceInQuery } from '#api/work/customer-reference.ts';
import { deadlineInput, metadata } from '#api/work/work-input.ts';
import { workJson } from '#api/work/work-json.ts';
import type { WorkJson } from '#api/work/work-resource.ts';
import { workListQuery, workOutput, workOutputExample } from '#api/work/work-schemas.ts';
import type { StoredCancellation } from '#db/work/cancellations.ts';
import { ON_UNMET_CONDITIONS } from '#domain/cancellation/refund-conditions.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';

const exampleCancellationId = 'can_01JQ8ZA7G8H9J0KMNPQRSTVWXY';

const esimId = ourId('esim', esimExampleId);

const MAX_REASON = 500;

export const cancellationInput = z
  .strictObject({
    reason: filledText(MAX_REASON)
      .optional()
      .meta({
        description: 'Your reason. Not encrypted: do not include personal data.',
        example: 'The customer travels later.',
        override: { pattern: FILLED_TEXT_PATTERN },
      }),
    on_unmet_conditions: z
      .enum(ON_UNMET_CONDITIONS)
      .default('refuse')
      .meta({
        description:
          'What you want if a condition of the automatic refund is not met, or is not known. `refuse`: nothing ' +
          'is sent, and the cancellation is refused. `ask_for_review`: it is sent, and the service decides; if it ' +
          'cancels the eSIM without a refund, the cancellation needs attention. `cancel_without_refund`: it is ' +
          'sent, and is completed also if no refund comes. With the last two the service can still refuse.',
      }),
    deadline: deadlineInput('cancellation'),
    metadata: metadata.optional(),
  })
  .meta({ id: 'CancellationInput' });

export const cancellationInputExample = {
  reason: 'The customer travels later.',
  metadata: { shop_order: 'A-1001' },
};

const ENDS = '`completed`, `refused` and `abandoned` are final; after the last two the eSIM is unchanged.';

/** A cancellation spends nothing, so it has neither a limit nor a price. */
const {
  max_price: _limit,
  charged: _charged,
  ...common
} = workOutput('cancellation', statusesOf('cancellation'), ENDS);

const { max_price: _limitExample, charged: _chargedExample, ...commonExample } = workOutputExample;

export const cancellationOutput = z
  .strictObject({
    id: ourId('cancellation', exampleCancellationId),
    esim_id: esimId,
    reason: z.string().nullable(),
    on_unmet_conditions: z.enum(ON_UNMET_CONDITIONS),
    cancelled_at: instant.nullable().meta({ description: 'When the eSIM was first known to be cancelled.' }),
    preflight: z.array(refundCondition).nullable().meta({
      description: 'The conditions of the refund, checked just before the newest send; `null` before the first.',
    }),
    refund: refundOutput.nullable(),
    ...common,
    esim: purchaseExpansionsOutput.esim,
  })
  .meta({ id: 'Cancellation' });

export type CancellationOutput = z.input<typeof cancellationOutput>;

export const cancellationOutputExample: CancellationOutput = {
  id: exampleCancellationId,
  esim_id: esimExampleId,
  reason: 'The customer travels later.',
  on_unmet_conditions: 'refuse',
  cancelled_at: null,
  preflight: null,
  refund: null,
  ...commonExample,
};

export const cancellationPage = pageOf(cancellationOutput, 'CancellationPage');

/** What answers about cancellations embed. */
export const cancellationExpansions = [esimExpansion] as const;

export const cancellationListQuery = z.strictObject({
  esim_id: esimIdInput.optional(),
  customer_reference: customerReferenceInQuery,
  ...workListQuery('cancellation', statusesOf('cancellation'), cancellationExpansions),
});

/**
 * @param now epoch milliseconds, for the age of the evidence. @throws Error when it has no eSIM, which a constraint
 *   of the database prevents.
 */
export function cancellationJson(
  { row: cancellation, refund, serviceId: _serviceId, ...facts }: StoredCancellation,
  now: number,
): CancellationOutput & WorkJson {
  if (cancellation.esimId === null) throw new Error(`cancellation ${cancellation.id} has no eSIM`);
  const { max_price: _limit, charged: _charged, ...work } = workJson('cancellation', cancellation, facts);
  return {
    id: cancellation.id,
    status: cancellation.status,
    esim_id: cancellation.esimId,
    reason: cancellation.reason,
    on_unmet_conditions: cancellation.onUnmetConditions,
    cancelled_at: instantJson(cancellation.cancelledAt),
    preflight:
      cancellation.preflight === null
        ? null
        : cancellation.preflight.map((condition) => refundConditionJson(condition, now)),
    refund: refund === null ? null : refundJson(refund),
    ...work,
  };
}
