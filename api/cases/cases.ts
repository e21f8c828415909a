import * as z from 'zod';
import { caseFor } from '#api/access/redact-for-owner.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { actionReason } from '#api/fields/action-reason.ts';
import { attentionReason, attentionReasonInQuery } from '#api/fields/failure-classes.ts';
import { idInPath, mayExist, ourId } from '#api/fields/ids.ts';
import { instant, instantJson } from '#api/fields/instant.ts';
import { flagInQuery } from '#api/fields/query.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { caseCursor, readCaseCursor } from '#api/lists/cursor.ts';
import { pageReply } from '#api/lists/page-reply.ts';
import { pageOf, pageQuery } from '#api/lists/page-schemas.ts';
import { Problem } from '#api/problems/problem.ts';
import { findCase, listOpenCases, type CaseOfWork } from '#db/work/cases.ts';
import { caseVerdicts, VERDICTS_OF, type CaseVerdict } from '#domain/operator/operator-actions.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { dismissCase } from '#fulfilment/operator/corrections.ts';

const tag = 'Operator actions';
const JSON_TYPE = 'application/json';
const exampleId = 'case_01JQ8Z9E5F6G7H8J9K0MNPQRST';

const caseOutput = z
  .strictObject({
    id: ourId('case', exampleId),
    reason: attentionReason,
    subject_kind: z
      .enum([...WORK_KINDS, 'delivery'])
      .meta({ description: 'Kind of the subject: work, or a `delivery` (a webhook).', example: 'delivery' }),
    subject_id: z.string().meta({ description: 'Id of the work, or of the delivery.', example: 'dlv-1' }),
    work_status: z
      .string()
      .nullable()
      .meta({ description: 'Present status of the work; null for a delivery. A case may be open about ended work.' }),
    verdicts: z.array(z.enum(caseVerdicts)).meta({
      description:
        'The verdicts that `/resolve` of the work takes for this reason; about ended work only `dismissed`. Empty: ' +
        'no verdict closes it, see `advice`.',
    }),
    detail: z.string(),
    meaning: z.string(),
    advice: z.string(),
    opened_at: instant,
    closed_at: instant.nullable(),
    resolution: z.string().nullable().meta({ description: 'Result of the case.' }),
  })
  .meta({ id: 'Case' });

const example: z.input<typeof caseOutput> = {
  id: exampleId,
  reason: 'webhook_conflict',
  subject_kind: 'delivery',
  subject_id: 'dlv-1',
  work_status: null,
  verdicts: ['dismissed'],
  detail: 'Different bodies, each correctly signed, arrived with this delivery id. All are stored and processed.',
  ...ATTENTION_REASONS.webhook_conflict,
  opened_at: '2030-01-31T12:00:00.000Z',
  closed_at: null,
  resolution: null,
};

/** Cases of all kinds. */
export function caseOperations({ database, now }: ApiDependencies): Operation[] {
  return [
    operation({
      id: 'listCases',
      method: 'get',
      path: '/v1/cases',
      tag,
      summary: 'List open cases, oldest first',
      scope: 'cases:operate',
      query: z.strictObject({
        reason: attentionReasonInQuery.optional(),
        work_ended: flagInQuery(
          '`true`: only cases about ended work, which the Temporal UI does not show; `false`: only all others.',
        ),
        ...pageQuery,
      }),
      answers: {
        200: {
          description: 'A page of open cases.',
          contentType: JSON_TYPE,
          schema: pageOf(caseOutput, 'CasePage'),
          example: { data: [example], next_cursor: null },
        },
      },
      handle: async ({ query: { limit, cursor, reason: only, work_ended: workEnded }, caller: { ownerId } }) => {
        const after = cursor === undefined ? undefined : readCaseCursor(cursor);
        const found = await database.run((db) =>
          listOpenCases(db, ownerId, { limit: limit + 1, reason: only, workEnded, after }),
        );
        return pageReply(found, limit, { json: (row) => caseJson(caseFor(ownerId, row)), cursor: caseCursor });
      },
    }),
    operation({
      id: 'getCase',
      method: 'get',
      path: '/v1/cases/{id}',
      tag,
      summary: 'Read a case, open or closed',
      scope: 'cases:operate',
      params: idInPath('case', exampleId),
      answers: { 200: { description: 'The case.', contentType: JSON_TYPE, schema: caseOutput, example } },
      problems: ['case_not_found'],
      handle: async ({ params: { id }, caller: { ownerId } }) => {
        const found = mayExist('case', id) ? await database.run((db) => findCase(db, id, ownerId)) : undefined;
        if (found === undefined) throw new Problem('case_not_found');
        return jsonReply(200, caseJson(caseFor(ownerId, found)));
      },
    }),
    operation({
      id: 'dismissCase',
      method: 'post',
      path: '/v1/cases/{id}/dismiss',
      tag,
      summary: 'Dismiss a case about a webhook delivery',
      description:
        'For cases whose `subject_kind` is `delivery`. Find out first who can send to the webhook address. A ' +
        'case about work is resolved with `/resolve` of that work. A closed case is not changed.',
      scope: 'cases:operate',
      accountWide: true,
      params: idInPath('case', exampleId),
      body: z.strictObject({ reason: actionReason }).meta({ id: 'CaseDismissal' }),
      bodyExample: { reason: 'Two test runs of the service used one id; the secret is safe.' },
      answers: { 200: { description: 'The case.', contentType: JSON_TYPE, schema: caseOutput, example } },
      problems: ['case_not_found', 'action_not_possible'],
      handle: async ({ params: { id }, body: { reason }, caller }) => {
        if (!mayExist('case', id)) throw new Problem('case_not_found');
        const by = { owner: caller.ownerId, actor: caller.apiKeyId, reason };
        const result = await database.transaction((tx) => dismissCase(tx, id, by, new Date(now())));
        if (result.kind === 'not_found') throw new Problem('case_not_found');
        if (result.kind === 'about_work') {
          const { subjectKind, subjectId } = result.row;
          throw new Problem('action_not_possible', {
            detail: `It is about ${subjectKind} ${subjectId}: resolve it with the /resolve of that work.`,
            extra: { refusal: 'verdict_not_possible' },
          });
        }
        return jsonReply(200, caseJson(result.row));
      },
    }),
  ];
}

function caseJson(row: CaseOfWork): z.input<typeof caseOutput> {
  const { meaning, advice } = ATTENTION_REASONS[row.reason];
  return {
    id: row.id,
    reason: row.reason,
    subject_kind: row.subjectKind,
    subject_id: row.subjectId,
    work_status: row.workStatus,
    verdicts: possibleVerdictsOf(row),
    detail: row.detail,
    meaning,
    advice,
    opened_at: row.openedAt.toISOString(),
    closed_at: instantJson(row.closedAt),
    resolution: row.resolution,
  };
}

function possibleVerdictsOf({ reason, workStatus }: CaseOfWork): CaseVerdict[] {
  const verdicts: readonly CaseVerdict[] = VERDICTS_OF[reason];
  return verdicts.filter((verdict) => workStatus === null || !isFinal(workStatus) || verdict === 'dismissed');
}
