import * as z from 'zod';
import { withOwnSuccessor, workFor } from '#api/access/redact-for-owner.ts';
import { refundCondition, refundConditionJson, refundJson, refundOutput } from '#api/cancellations/refunds.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { esimExpansion, purchaseExpansionsOutput, requireEsimOfPath } from '#api/esims/delivered-esim.ts';
import { FILLED_TEXT_PATTERN, filledText, idInPath, idInput, instant, instantJson, ourId } from '#api/fields/fields.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { amount, type CsvColumns, field, fields } from '#api/lists/csv-file.ts';
import { alreadyExists, createWork, creationAnswers, creationCall, type WorkReference } from '#api/work/create-work.ts';
import { customerHash, customerReferenceInQuery, deadlineInput, metadata } from '#api/work/work-input.ts';
import { workColumns, workOperations } from '#api/work/work-operations.ts';
import { findersOf, type WorkJson, workJson, type WorkResource } from '#api/work/work-resource.ts';
import { workFilter, workListQuery, workOutput } from '#api/work/work-schemas.ts';
import { findEsim, readRefundContext } from '#db/esims/esim-queries.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { cancellationReads, findCancellationInForce, type StoredCancellation } from '#db/work/cancellations.ts';
import { NO_ATTEMPTS } from '#db/work/work-reads.ts';
import { forecastRefund, judgeRefundConditions, ON_UNMET_CONDITIONS } from '#domain/cancellation/refund-conditions.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';
import { acceptCancellation } from '#fulfilment/accept/work.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import { esimDetails } from '#upstream/mapping/esims.ts';
import { readRefundEvidence } from '#upstream/mapping/refund-evidence.ts';

const cancellationInput = z
  .strictObject({
    reason: filledText(500)
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

const ENDS = '`completed`, `refused` and `abandoned` are final; after the last two the eSIM is unchanged.';

/** A cancellation spends nothing, so it has neither a limit nor a price. */
const {
  max_price: _limit,
  charged: _charged,
  ...common
} = workOutput('cancellation', statusesOf('cancellation'), ENDS);

const cancellationOutput = z
  .strictObject({
    id: ourId('cancellation'),
    esim_id: ourId('esim'),
    reason: z.string().nullable().meta({ example: 'The customer travels later.' }),
    on_unmet_conditions: z.enum(ON_UNMET_CONDITIONS),
    cancelled_at: instant.nullable().meta({
      description: 'When the eSIM was first known to be cancelled.',
      example: '2030-01-31T12:00:01.000Z',
    }),
    preflight: z.array(refundCondition).nullable().meta({
      description: 'The conditions of the refund, checked just before the newest send; `null` before the first.',
    }),
    refund: refundOutput.nullable(),
    ...common,
    esim: purchaseExpansionsOutput.esim,
  })
  .meta({ id: 'Cancellation' });

type CancellationOutput = z.input<typeof cancellationOutput>;

const cancellationExpansions = [esimExpansion] as const;

const cancellationListQuery = z.strictObject({
  esim_id: idInput('esim').optional(),
  customer_reference: customerReferenceInQuery,
  ...workListQuery('cancellation', statusesOf('cancellation'), cancellationExpansions),
});

/** @throws Error when it has no eSIM, which a constraint of the database prevents. */
function cancellationJson(
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
    preflight: cancellation.preflight?.map((each) => refundConditionJson(each, now)) ?? null,
    refund: refund && refundJson(refund),
    ...work,
  };
}

const cancellationCsv: CsvColumns<CancellationOutput> = [
  fields('id', 'status', 'esim_id', 'reason', 'cancelled_at'),
  field('refund_status', ({ refund }) => refund?.status),
  amount('refund', ({ refund }) => refund?.amount),
  ...workColumns,
];

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
      conditions: Object.entries({
        usage_is_zero: 'No data was used.',
        never_installed: 'It was never installed.',
        never_activated: 'It was never activated.',
        no_completed_topup: 'No top-up of it is completed.',
        debit_verified: 'The wallet shows what it cost.',
      }).map(([name, evidence]) => ({
        name,
        result: 'pass',
        evidence,
        as_of: '2030-01-31T12:00:00.000Z',
        age_seconds: 0.4,
      })),
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
        'the reason. Nothing is changed and nothing is spent. Once the eSIM is being cancelled, its cancellation has ' +
        'the answer.',
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
