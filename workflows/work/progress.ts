import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { OperatedAttempt } from '#domain/operator/operator-actions.ts';
import { resubmission } from '#domain/retry/resubmission.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import type { Explanation } from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

/** What a workflow shows about its work. */
export interface Shown {
  readonly status: WorkStatus;
  readonly now: string;
  readonly next: string;
  readonly failure?: FailureClass | undefined;
  readonly attention?: AttentionReason | undefined;
  /** Epoch milliseconds. */
  readonly nextStepAt?: number | undefined;
  /** The current attempt, once there is one. */
  readonly attempt?: OperatedAttempt | undefined;
  /** The retry rule, in a sentence. */
  readonly retry?: string | undefined;
}

/**
 * Shows the work in the Temporal UI: current details in Markdown on the workflow's page, and search attributes for
 * lists and filters. Current details are a query and need a worker. Search attributes are stored, so they must suffice
 * without the details; they are written only when they change, because each write is an event.
 */
export class Progress {
  readonly #kind: WorkKind;
  #current: Shown;
  #storedKey: string;

  constructor(kind: WorkKind, shown: Shown) {
    this.#kind = kind;
    this.#current = shown;
    // A run that was continued as new has the search attributes of the run before.
    this.#storedKey = workflowInfo().continuedFromExecutionRunId === undefined ? searchKey(shown) : '';
    setCurrentDetails(markdown(kind, shown));
  }

  show(shown: Shown): void {
    this.#current = shown;
    setCurrentDetails(markdown(this.#kind, shown));
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
      resubmission: currentResubmission(this.#kind, this.#current),
    };
  }
}

/** The service may report more after the end of a workflow: whether to submit again, only the API knows then. */
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

function searchKey({ status, failure, attention, nextStepAt }: Shown): string {
  return JSON.stringify([status, failure, attention, nextStepAt]);
}

function markdown(kind: WorkKind, shown: Shown): string {
  const { status, now, next, failure, attention, nextStepAt, retry } = shown;
  const lines = [`### ${attention === undefined ? '' : '⚠ '}${status}`, '', now, '', `**Next:** ${next}`];
  if (nextStepAt !== undefined) lines.push('', `**At:** ${new Date(nextStepAt).toISOString()}`);
  if (failure !== undefined) {
    lines.push('', `**Failure class** \`${failure}\`: ${FAILURE_CLASSES[failure].meaning}`);
    if (attention === undefined) lines.push('', `**What you can do:** ${FAILURE_CLASSES[failure].advice}`);
  }
  if (attention !== undefined) {
    lines.push('', `**Case** \`${attention}\`: ${ATTENTION_REASONS[attention].meaning}`);
    lines.push('', `**What to do:** ${ATTENTION_REASONS[attention].advice}`);
  }
  if (retry !== undefined) lines.push('', `**Retry rule:** ${retry}`);
  const { verdict, reason } = currentResubmission(kind, shown);
  lines.push('', `**Should the caller submit it again?** ${RESUBMISSION[verdict]}. ${reason}`);
  lines.push('', `_Run ${workflowInfo().runId}_`);
  return lines.join('\n');
}
