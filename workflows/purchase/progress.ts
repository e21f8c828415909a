import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import type { OperatedAttempt } from '#domain/work/operator-actions.ts';
import { resubmission } from '#domain/work/resubmission.ts';
import type { WorkKind } from '#domain/work/work.ts';
import type { Explanation } from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

/** Where work stands, as its workflow shows it. */
export interface Standing {
  readonly status: WorkStatus;
  readonly now: string;
  readonly next: string;
  readonly failure?: FailureClass | undefined;
  readonly attention?: AttentionReason | undefined;
  /** Epoch milliseconds. */
  readonly nextStepAt?: number | undefined;
  /** The attempt that counts, once there is one. */
  readonly attempt?: OperatedAttempt | undefined;
  /** How it is tried again, in a sentence. */
  readonly retry?: string | undefined;
}

/**
 * Shows where the work stands in the Temporal UI: current details in Markdown for the one who opened the workflow,
 * search attributes for the one who looks for what is stuck. Details are a query and need a worker; the search
 * attributes are stored, so they alone must say enough. They are written only when they change: each write is an event.
 */
export class Progress {
  readonly #kind: WorkKind;
  #standing: Standing;
  #shown: string;

  constructor(kind: WorkKind, standing: Standing) {
    this.#kind = kind;
    this.#standing = standing;
    // A run that was continued as new has the search attributes of the one before it, whatever they are.
    this.#shown = workflowInfo().continuedFromExecutionRunId === undefined ? searchKey(standing) : '';
    setCurrentDetails(markdown(kind, standing));
  }

  show(standing: Standing): void {
    this.#standing = standing;
    setCurrentDetails(markdown(this.#kind, standing));
    const key = searchKey(standing);
    if (key === this.#shown) return;
    this.#shown = key;
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.stage, value: standing.status },
      { key: SEARCH_ATTRIBUTES.needsAttention, value: standing.attention !== undefined },
      { key: SEARCH_ATTRIBUTES.attentionReason, value: standing.attention ?? null },
      { key: SEARCH_ATTRIBUTES.failureClass, value: standing.failure ?? null },
      {
        key: SEARCH_ATTRIBUTES.nextRetryAt,
        value: standing.nextStepAt === undefined ? null : new Date(standing.nextStepAt),
      },
    ]);
  }

  explanation(): Explanation {
    const { status, now, next, failure, attention, nextStepAt, retry } = this.#standing;
    return {
      status,
      now,
      next,
      ...(failure !== undefined && { failure }),
      ...(attention !== undefined && { attention }),
      ...(nextStepAt !== undefined && { nextStepAt }),
      ...(retry !== undefined && { retry }),
      submitAgain: submitAgain(this.#kind, this.#standing),
    };
  }
}

/** A workflow that has ended hears of nothing any more: whether it may be submitted again, the API alone knows. */
function submitAgain(kind: WorkKind, { status, attention, attempt }: Standing): Explanation['submitAgain'] {
  const attempts = attempt === undefined ? [] : [attempt];
  const { verdict, why } = resubmission({ kind, status, attempts, inDoubt: attention === 'contradiction' });
  if (verdict !== 'yes') return { verdict, why };
  return { verdict: 'ask_api', why: `When this ended: ${why} What has come since, \`submit_again\` of the API knows.` };
}

const SUBMIT_AGAIN = { not_needed: 'Not needed', no: 'No', ask_api: 'Ask the API' } as const satisfies Record<
  Explanation['submitAgain']['verdict'],
  string
>;

function searchKey({ status, failure, attention, nextStepAt }: Standing): string {
  return JSON.stringify([status, failure, attention, nextStepAt]);
}

function markdown(kind: WorkKind, standing: Standing): string {
  const { status, now, next, failure, attention, nextStepAt, retry } = standing;
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
  if (retry !== undefined) lines.push('', `**How it is tried again:** ${retry}`);
  const { verdict, why } = submitAgain(kind, standing);
  lines.push('', `**Should the caller submit it again?** ${SUBMIT_AGAIN[verdict]}. ${why}`);
  lines.push('', `_Run ${workflowInfo().runId}_`);
  return lines.join('\n');
}
