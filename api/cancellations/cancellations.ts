import * as z from 'zod';
import { withOwnSuccessor, workFor } from '#api/access/redact-for-owner.ts';
import {
  cancellationCsv,
  cancellationExpansions,
  cancellationInput,
  cancellationJson,
  cancellationListQuery,
  cancellationOutput,
  cancellationPage,
  refundCondition,
  refundConditionJson,
  refundJson,
  refundListQuery,
  refundOutput,
  refundPage,
} from '#api/cancellations/cancellation-schemas.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { requireEsimOfPath } from '#api/esims/delivered-esim.ts';
import { idInPath, ourId } from '#api/fields/fields.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageReply, timesOf } from '#api/lists/lists.ts';
import { requireFound } from '#api/problems/problem.ts';
import { type WorkReference, createWork, creationAnswers, creationCall, alreadyExists } from '#api/work/create-work.ts';
import { customerHash } from '#api/work/work-input.ts';
import { workOperations } from '#api/work/work-operations.ts';
import { type WorkResource, findersOf } from '#api/work/work-resource.ts';
import { workFilter } from '#api/work/work-schemas.ts';
import { findEsim, readRefundContext } from '#db/esims/esim-queries.ts';
import type { Owner } from '#db/lists/ownership.ts';
import {
  type StoredCancellation,
  cancellationReads,
  findCancellationInForce,
  findRefundById,
  pageOfRefunds,
} from '#db/work/cancellations.ts';
import { NO_ATTEMPTS } from '#db/work/work-reads.ts';
import { forecastRefund, judgeRefundConditions } from '#domain/cancellation/refund-conditions.ts';
import { acceptCancellation } from '#fulfilment/accept/work.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import { esimDetails } from '#upstream/mapping/esims.ts';
import { readRefundEvidence } from '#upstream/mapping/refund-evidence.ts';

const EXISTING: WorkReference = { field: 'esim_id', taken: 'cancellation_exists', isForGood: false };

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

const preflight = z
  .strictObject({
    esim_id: ourId('esim'),
    esim_status: z
      .string()
      .nullable()
      .meta({
        description:
          'Current status of the eSIM at the service; null when it could not be read. An eSIM that is `cancelled` ' +
          'already is not refunded.',
      }),
    forecast: z.enum(['refund_expected', 'no_refund_expected', 'unknown']).meta({
      description: 'The forecast from the conditions. The answer of the service to the cancellation decides.',
    }),
    conditions: z.array(refundCondition),
  })
  .meta({
    id: 'CancellationPreflight',
    example: {
      esim_status: 'available',
      conditions: [
        {
          name: 'usage_is_zero',
          result: 'pass',
          evidence: 'No data was used.',
          as_of: '2030-01-31T12:00:00.000Z',
          age_seconds: 0.4,
        },
        {
          name: 'never_installed',
          result: 'pass',
          evidence: 'It was never installed.',
          as_of: '2030-01-31T12:00:00.000Z',
          age_seconds: 0.4,
        },
        {
          name: 'never_activated',
          result: 'pass',
          evidence: 'It was never activated.',
          as_of: '2030-01-31T12:00:00.000Z',
          age_seconds: 0.4,
        },
        {
          name: 'no_completed_topup',
          result: 'pass',
          evidence: 'No top-up of it is completed.',
          as_of: '2030-01-31T12:00:00.000Z',
          age_seconds: 0.4,
        },
        {
          name: 'debit_verified',
          result: 'pass',
          evidence: 'The wallet shows what it cost.',
          as_of: '2030-01-31T12:00:00.000Z',
          age_seconds: 0.4,
        },
      ],
    },
  });

export function cancellationPreflightOperations(dependencies: ApiDependencies): Operation[] {
  const { database, service, now } = dependencies;
  return [
    operation('GET /v1/esims/{id}/cancellation-preflight', {
      id: 'getCancellationPreflight',
      summary: 'Forecast whether the cancellation of an eSIM would be refunded',
      description:
        'Reads the five conditions of an automatic refund now. A condition that cannot be read is `unknown`, with ' +
        'the reason. Nothing is ' +
        'changed and nothing is spent. Once the eSIM is being cancelled, its cancellation has the answer.',
      scope: 'esims:read',
      params: idInPath('esim'),
      answers: { 200: jsonAnswer('The conditions, in the order of the specification.', preflight) },
      problems: ['cancellation_exists'],
      handle: async ({ params: { id }, caller: { ownerId } }) => {
        const esim = await database.run((db) => requireEsimOfPath(findEsim, db, id, ownerId));
        const made = await database.run((db) => findCancellationInForce(db, id));
        if (made !== undefined)
          throw await database.run((db) => alreadyExists(db, 'cancellation', EXISTING, made, ownerId));
        const own = await database.run((db) => readRefundContext(db, esim));
        const { facts, esim: read, readAt } = await readRefundEvidence(service, own, now);
        if (read !== undefined) {
          const state = esimDetails(read);
          await database.transaction((tx) => recordEsim(tx, esim, { state, readAt }, new Date(now())));
        }
        const conditions = judgeRefundConditions(facts);
        const answer: z.input<typeof preflight> = {
          esim_id: id,
          esim_status: read?.status ?? null,
          forecast: forecastRefund(conditions, read?.status),
          conditions: conditions.map((condition) => refundConditionJson(condition, now())),
        };
        return jsonReply(200, answer);
      },
    }),
  ];
}

export function refundOperations({ database }: ApiDependencies): Operation[] {
  return [
    operation('GET /v1/refunds', {
      id: 'listRefunds',
      summary: 'List refunds, newest first',
      scope: 'cancellations:read',
      query: refundListQuery,
      answers: { 200: jsonAnswer('A page of refunds.', refundPage) },
      handle: async ({ query, caller: { ownerId } }) => {
        const filter = {
          statuses: query.status,
          esimId: query.esim_id,
          ...timesOf(query),
        };
        return pageReply(
          query,
          CURSORS.refund,
          (at) => database.run((db) => pageOfRefunds(db, ownerId, filter, at)),
          refundJson,
        );
      },
    }),
    operation('GET /v1/refunds/{id}', {
      id: 'getRefund',
      summary: 'Read a refund',
      scope: 'cancellations:read',
      params: idInPath('refund'),
      answers: { 200: jsonAnswer('The refund.', refundOutput) },
      handle: async ({ params: { id }, caller: { ownerId } }) => {
        const found = await database.run((db) => findRefundById(db, id, ownerId));
        return jsonReply(200, refundJson(requireFound(found, 'refund_not_found')));
      },
    }),
  ];
}
