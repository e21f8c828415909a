import {
  cancellationExpansions,
  cancellationInput,
  cancellationInputExample,
  cancellationJson,
  cancellationListQuery,
  cancellationOutput,
  cancellationOutputExample,
  cancellationPage,
} from '#api/cancellations/cancellation-schemas.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { esimExampleId } from '#api/esims/esim-schemas.ts';
import { requireEsimOfPath } from '#api/esims/require-esim.ts';
import { idInPath } from '#api/fields/ids.ts';
import type { Operation } from '#api/http/operation.ts';
import { customerHash } from '#api/work/customer-reference.ts';
import { cancellationCsv } from '#api/work/work-csv.ts';
import { workOperations } from '#api/work/work-operations.ts';
import type { WorkResource } from '#api/work/work-resource.ts';
import { findEsim } from '#db/esims/esim-queries.ts';
import { cancellationReads } from '#db/work/cancellations.ts';
import { acceptCancellation } from '#fulfilment/accept/cancellation.ts';

/** The existing cancellation of an eSIM, in a problem. */
export const cancellationName = {
  kind: 'cancellation',
  path: '/v1/cancellations',
  reference: { field: 'esim_id', taken: 'cancellation_exists', isForGood: false },
} as const satisfies Partial<WorkResource>;

/** Cancellations of eSIMs: create, read, list, timeline, operator actions. */
export function cancellationOperations(dependencies: ApiDependencies): Operation[] {
  return workOperations(dependencies, {
    ...cancellationName,
    name: 'Cancellation',
    tag: 'Cancellations',
    output: cancellationOutput,
    example: cancellationOutputExample,
    expansions: cancellationExpansions,
    reads: cancellationReads,
    json: cancellationJson,
    create: {
      below: {
        operationId: 'cancelEsim',
        path: '/v1/esims/{id}/cancel',
        params: idInPath('esim', esimExampleId),
        notFound: 'esim_not_found',
      },
      summary: 'Cancel an eSIM',
      description:
        'Stores a cancellation and answers with it at once; it is processed afterwards. If a condition of the refund ' +
        'is not met, `on_unmet_conditions` decides whether it is sent. It is completed once the eSIM is cancelled ' +
        'and the money is found in the wallet. One cancellation of an eSIM is made; another one is ' +
        'possible only after it was refused or abandoned. A customer who installs the eSIM meanwhile may be faster: ' +
        'the answer of the service decides.',
      body: cancellationInput,
      bodyExample: cancellationInputExample,
      accept:
        (_dependencies, { subjectId: esimId, body, caller }) =>
        async (tx, work, now) => {
          const { reason = null, on_unmet_conditions: onUnmetConditions } = body;
          await requireEsimOfPath(findEsim, tx, esimId, caller.ownerId);
          return acceptCancellation(tx, { ...work, esimId, reason, onUnmetConditions }, now);
        },
      added: { refund: null },
    },
    list: {
      query: cancellationListQuery,
      page: cancellationPage,
      csv: cancellationCsv,
      filter: (query, { keyRing }) => ({
        esimId: query.esim_id,
        customerReferenceHash: customerHash(keyRing, query.customer_reference),
      }),
    },
    resolution: {
      serviceId: {
        field: 'service_refund_id',
        description: 'With `bought` (it is cancelled): its refund at the service, if it is not known yet.',
      },
      example: { reason: 'Their support has paid it by hand.', case: 'refund_failed', verdict: 'refunded' },
    },
  });
}
