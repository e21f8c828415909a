import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { OperatedAttempt } from '#domain/operator/operator-actions.ts';
import { possibleCommands } from '#domain/operator/possible-actions.ts';
import { resubmission } from '#domain/retry/resubmission.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import type { WorkKind, WorkRef } from '#domain/work/kinds.ts';
import { ENDS_WITHOUT_EFFECT, type WorkStatus } from '#domain/work/lifecycle.ts';
import { adviceOf } from '#domain/work/status-text.ts';
import type { Explanation } from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

export interface Shown {
  readonly status: WorkStatus;
  readonly now: string;
  readonly next: string;
  readonly failure?: FailureClass | undefined;
  readonly attention?: AttentionReason | undefined;
  /** Epoch milliseconds. */
  readonly nextStepAt?: number | undefined;
  readonly attempt?: (OperatedAttempt & { readonly charged?: string }) | undefined;
  readonly retry?: string | undefined;
  readonly maxPrice?: string | undefined;
}

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

/**
 * Current details are a query and need a worker. Search attributes are stored and must suffice without them; they are
 * written only when they change, because each write is an event.
 */
export class Progress {
  readonly #work: WorkRef;
  #current: Shown;
  #storedKey: string;

  constructor(work: WorkRef, shown: Shown) {
    this.#work = work;
    this.#current = shown;
    // A run that was continued as new has the search attributes of the run before.
    this.#storedKey = workflowInfo().continuedFromExecutionRunId === undefined ? searchKey(shown) : '';
    setCurrentDetails(currentDetails(work, shown, workflowInfo().runId));
  }

  show(shown: Shown): void {
    this.#current = shown;
    setCurrentDetails(currentDetails(this.#work, shown, workflowInfo().runId));
    const key = searchKey(shown);
    if (key === this.#storedKey) return;
    this.#storedKey = key;
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.stage, value: shown.status },
      { key: SEARCH_ATTRIBUTES.needsAttention, value: shown.attention !== undefined },
      { key: SEARCH_ATTRIBUTES.attentionReason, value: shown.attention ?? null },
      { key: SEARCH_ATTRIBUTES.failureClass, value: shown.failure ?? null },
      {
        key: SEARCH_ATTRIBUTES.nextRetryAt,
        value: shown.nextStepAt === undefined ? null : new Date(shown.nextStepAt),
      },
    ]);
  }

  explanation(): Explanation {
    const { status, now, next, failure, attention, nextStepAt, retry } = this.#current;
    return {
      status,
      now,
      next,
      ...(failure !== undefined && { failure }),
      ...(attention !== undefined && { attention }),
      ...(nextStepAt !== undefined && { nextStepAt }),
      ...(retry !== undefined && { retry }),
      resubmission: currentResubmission(this.#work.kind, this.#current),
    };
  }
}

function searchKey({ status, failure, attention, nextStepAt }: Shown): string {
  return JSON.stringify([status, failure, attention, nextStepAt]);
}
