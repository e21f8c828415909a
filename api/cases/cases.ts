import * as z from 'zod';
import { caseFor } from '#api/access/redact-for-owner.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import {
  actionReason,
  attentionReason,
  attentionReasonInQuery,
  idInPath,
  instant,
  instantJson,
  ourId,
} from '#api/fields/fields.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { flagInQuery, pageOf, pageQuery, pageReply } from '#api/lists/lists.ts';
import { Problem, requireFound } from '#api/problems/problem.ts';
import { findCase, listOpenCases, type CaseOfWork } from '#db/work/cases.ts';
import { caseVerdicts, VERDICTS_OF, type CaseVerdict } from '#domain/operator/operator-actions.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { dismissCase } from '#fulfilment/operator/corrections.ts';

const caseOutput = z
  .strictObject({
    id: ourId('case'),
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
  .meta({
    id: 'Case',
    example: {
      reason: 'webhook_conflict',
      verdicts: ['dismissed'],
      detail: 'Different bodies, each correctly signed, arrived with this delivery id. All are stored and processed.',
      meaning: 'Two different bodies arrived with one delivery id.',
      advice: 'Check who can send to the webhook address, and whether the webhook secret has leaked.',
    },
  });

export function caseOperations({ database, now }: ApiDependencies): Operation[] {
  return [
    operation('GET /v1/cases', {
      id: 'listCases',
      summary: 'List open cases, oldest first',
      scope: 'cases:operate',
      query: z.strictObject({
        reason: attentionReasonInQuery.optional(),
        work_ended: flagInQuery(
          '`true`: only cases about ended work, which the Temporal UI does not show; `false`: only all others.',
        ),
        ...pageQuery,
      }),
      answers: { 200: jsonAnswer('A page of open cases.', pageOf(caseOutput, 'CasePage')) },
      handle: async ({ query, caller: { ownerId } }) => {
        const { reason, work_ended: workEnded } = query;
        return pageReply(
          query,
          CURSORS.case,
          (at) => database.run((db) => listOpenCases(db, ownerId, { reason, workEnded, ...at })),
          (row) => caseJson(caseFor(ownerId, row)),
        );
      },
    }),
    operation('GET /v1/cases/{id}', {
      id: 'getCase',
      summary: 'Read a case, open or closed',
      scope: 'cases:operate',
      params: idInPath('case'),
      answers: { 200: jsonAnswer('The case.', caseOutput) },
      handle: async ({ params: { id }, caller: { ownerId } }) => {
        const found = requireFound(await database.run((db) => findCase(db, id, ownerId)), 'case_not_found');
        return jsonReply(200, caseJson(caseFor(ownerId, found)));
      },
    }),
    operation('POST /v1/cases/{id}/dismiss', {
      id: 'dismissCase',
      summary: 'Dismiss a case about a webhook delivery',
      description:
        'For cases whose `subject_kind` is `delivery`. Find out first who can send to the webhook address. A ' +
        'case about work is resolved with `/resolve` of that work. A closed case is not changed.',
      scope: 'cases:operate',
      accountWide: true,
      params: idInPath('case'),
      body: z.strictObject({ reason: actionReason }).meta({ id: 'CaseDismissal' }),
      answers: { 200: jsonAnswer('The case.', caseOutput) },
      problems: ['action_not_possible'],
      handle: async ({ params: { id }, body: { reason }, caller }) => {
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
  const { reason, workStatus } = row;
  const { meaning, advice } = ATTENTION_REASONS[reason];
  const verdicts: readonly CaseVerdict[] = VERDICTS_OF[reason];
  return {
    id: row.id,
    reason,
    subject_kind: row.subjectKind,
    subject_id: row.subjectId,
    work_status: workStatus,
    verdicts: verdicts.filter((verdict) => workStatus === null || !isFinal(workStatus) || verdict === 'dismissed'),
    detail: row.detail,
    meaning,
    advice,
    opened_at: row.openedAt.toISOString(),
    closed_at: instantJson(row.closedAt),
    resolution: row.resolution,
  };
}
