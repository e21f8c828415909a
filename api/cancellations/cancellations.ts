import { withOwnSuccessor, workFor } from '#api/access/redact-for-owner.ts';
import {
  cancellationCsv,
  cancellationExpansions,
  cancellationInput,
  cancellationJson,
  cancellationListQuery,
  cancellationOutput,
  cancellationPage,
} from '#api/cancellations/cancellation-schemas.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { requireEsimOfPath } from '#api/esims/delivered-esim.ts';
import { idInPath } from '#api/fields/fields.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { createWork, creationAnswers, creationCall, type WorkReference } from '#api/work/create-work.ts';
import { customerHash } from '#api/work/work-input.ts';
import { workOperations } from '#api/work/work-operations.ts';
import { findersOf, type WorkResource } from '#api/work/work-resource.ts';
import { workFilter } from '#api/work/work-schemas.ts';
import { findEsim } from '#db/esims/esim-queries.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { cancellationReads, type StoredCancellation } from '#db/work/cancellations.ts';
import { NO_ATTEMPTS } from '#db/work/work-reads.ts';
import { acceptCancellation } from '#fulfilment/accept/work.ts';

export const EXISTING: WorkReference = { field: 'esim_id', taken: 'cancellation_exists', isForGood: false };

export function cancellationOperations(dependencies: ApiDependencies): Operation[] {
  const { keyRing, now } = dependencies;
  const show = (stored: StoredCancellation, owner: Owner) =>
    workFor(owner, cancellationJson(withOwnSuccessor(owner, stored), now()));
  const resource: WorkResource = {
    kind: 'cancellation',
    name: 'Cancellation',
    output: cancellationOutput,
    expansions: cancellationExpansions,
    resolution: {
      serviceId: {
        field: 'service_refund_id',
        description: 'With `bought` (it is cancelled): its refund at the service, if it is not known yet.',
      },
    },
    ...findersOf(dependencies, cancellationReads, show),
  };
  return [
    operation('POST /v1/esims/{id}/cancel', {
      ...creationCall(resource),
      id: 'cancelEsim',
      tag: 'Cancellations',
      params: idInPath('esim'),
      summary: 'Cancel an eSIM',
      description:
        'Stores a cancellation and answers with it at once; it is processed afterwards. If a condition of the refund ' +
        'is not met, `on_unmet_conditions` decides whether it is sent. It is completed once the eSIM is cancelled ' +
        'and the money is found in the wallet. One cancellation of an eSIM is made; another one is ' +
        'possible only after it was refused or abandoned. A customer who installs the eSIM meanwhile may be faster: ' +
        'the answer of the service decides.',
      body: cancellationInput,
      answers: creationAnswers(resource, { cancelled_at: null }),
      problems: ['cancellation_exists'],
      handle: async (request) => {
        const { id: esimId } = request.params;
        const { reason, on_unmet_conditions: onUnmetConditions } = request.body;
        const { ownerId } = request.caller;
        return createWork(dependencies, resource, request, {
          reference: EXISTING,
          named: esimId,
          accept: async (tx, work, at) => {
            await requireEsimOfPath(findEsim, tx, esimId, ownerId);
            return acceptCancellation(tx, { ...work, esimId, reason, onUnmetConditions }, at);
          },
          show: (row) => show({ row, ...NO_ATTEMPTS, refund: null }, ownerId),
        });
      },
    }),
    ...workOperations(dependencies, resource, {
      query: cancellationListQuery,
      page: cancellationPage,
      csv: cancellationCsv,
      reads: cancellationReads,
      show,
      filterOf: (query) => ({
        ...workFilter(query),
        esimId: query.esim_id,
        customerReferenceHash: customerHash(keyRing, query.customer_reference),
      }),
    }),
  ];
}
