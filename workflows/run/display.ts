import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { OperatedAttempt } from '#domain/operator/operator-actions.ts';
import { possibleCommands } from '#domain/operator/possible-actions.ts';
import { resubmission } from '#domain/retry/resubmission.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import type { WorkKind, WorkRef } from '#domain/work/kinds.ts';
import { ENDS_WITHOUT_EFFECT } from '#domain/work/lifecycle.ts';
import { adviceOf } from '#domain/work/status-text.ts';
import type { Explanation } from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

/** What operators see of a run. */
export type Shown = Omit<Explanation, 'resubmission'> & {
  readonly attempt?: OperatedAttempt & { readonly charged?: string | undefined };
  readonly maxPrice?: string | undefined;
};

/** After the end of a workflow only the API knows of later reports. */
function currentResubmission(kind: WorkKind, { status, attention, attempt }: Shown): Explanation['resubmission'] {
  const attempts = attempt === undefined ? [] : [attempt];
  const { verdict, reason } = resubmission({ kind, status, attempts, inDoubt: attention === 'contradiction' });
  if (verdict !== 'yes') return { verdict, reason };
  return {
    verdict: 'ask_api',
    reason: `When this ended: ${reason} \`resubmission\` of the API also counts later reports.`,
  };
}

const RESUBMISSION = { not_needed: 'Not needed', no: 'No', ask_api: 'Ask the API' } as const satisfies Record<
  Explanation['resubmission']['verdict'],
  string
>;

export function currentDetails(work: WorkRef, shown: Shown, runId: string): string {
  const { status, now, next, failure, attention, nextStepAt, retry, attempt, maxPrice } = shown;
  // The list shows each orderly end as *Completed*.
  const mark = attention === undefined ? (status === ENDS_WITHOUT_EFFECT[work.kind] ? '✗ ' : '') : '⚠ ';
  const lines = [`### ${mark}${status}`, '', now, '', `**Next:** ${next}`];
  if (nextStepAt !== undefined) lines.push('', `**At:** ${new Date(nextStepAt).toISOString()}`);
  // A settled attempt has failed and cost nothing in the end.
  if (attempt?.charged !== undefined && !attempt.settled) lines.push('', `**Charged:** ${attempt.charged}`);
  if (maxPrice !== undefined) lines.push('', `**Price limit:** ${maxPrice}`);
  if (failure !== undefined) {
    lines.push('', `**Failure class** \`${failure}\`: ${FAILURE_CLASSES[failure].meaning}`);
    if (attention === undefined) lines.push('', `**What you can do:** ${adviceOf({ status, failure })}`);
  }
  if (attention !== undefined) {
    lines.push('', `**Case** \`${attention}\`: ${ATTENTION_REASONS[attention].meaning}`);
    lines.push('', `**What to do:** ${ATTENTION_REASONS[attention].advice}`);
  }
  lines.push(...commandLines(work, shown));
  if (retry !== undefined) lines.push('', `**Retry rule:** ${retry}`);
  const { verdict, reason } = currentResubmission(work.kind, shown);
  lines.push('', `**Should the caller submit it again?** ${RESUBMISSION[verdict]}. ${reason}`);
  lines.push('', `_Run ${runId}_`);
  return lines.join('\n');
}

/** None before the work is read, or when its row is lost. */
function commandLines(work: WorkRef, { attempt, ...shown }: Shown): string[] {
  if (attempt === undefined) return [];
  const commands = possibleCommands(work, { ...shown, attempt });
  if (commands.length === 0) return [];
  return [
    '',
    '**Commands** (or *Send an Update* of the same name; put your words for `…`):',
    '',
    ...commands.flatMap(({ command, effect, verdicts }) => [
      `- \`${command}\` ${effect}`,
      ...verdicts.map(([verdict, meaning]) => `  - \`${verdict}\`: ${meaning}`),
    ]),
  ];
}

export function explanationOf(work: WorkRef, shown: Shown): Explanation {
  const { attempt: _attempt, maxPrice: _maxPrice, ...explained } = shown;
  return { ...explained, resubmission: currentResubmission(work.kind, shown) };
}

/** A run whose first task sends begins with it: a run without an obstacle never writes its search attributes. */
export const NOTHING_STORED = 'nothing';

/**
 * Current details are a query and need a worker. Search attributes are stored and must suffice without them; they are
 * written only when they change, because each write is an event.
 * @param storedKey of the last call. @returns the key of what is stored now.
 */
export function display(work: WorkRef, shown: Shown, storedKey: string | undefined): string {
  const { runId, continuedFromExecutionRunId } = workflowInfo();
  setCurrentDetails(currentDetails(work, shown, runId));
  const { status, failure, attention, nextStepAt } = shown;
  const key = JSON.stringify([status, failure, attention, nextStepAt]);
  // The start has stored those of the first display. A run that continues another has those of the run before.
  if (storedKey === undefined) return continuedFromExecutionRunId === undefined ? key : '';
  if (key === storedKey) return key;
  const hasObstacle = failure !== undefined || attention !== undefined || nextStepAt !== undefined;
  if (storedKey === NOTHING_STORED && !hasObstacle && (status === 'submitting' || status === 'completed'))
    return storedKey;
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.stage, value: status },
    { key: SEARCH_ATTRIBUTES.needsAttention, value: attention !== undefined },
    { key: SEARCH_ATTRIBUTES.attentionReason, value: attention ?? null },
    { key: SEARCH_ATTRIBUTES.failureClass, value: failure ?? null },
    { key: SEARCH_ATTRIBUTES.nextRetryAt, value: nextStepAt === undefined ? null : new Date(nextStepAt) },
  ]);
  return key;
}
