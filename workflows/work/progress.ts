import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { Explanation } from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';
import { currentDetails, currentResubmission, type Shown } from '#workflows/work/current-details.ts';

/**
 * Shows the work in the Temporal UI: current details in Markdown on the workflow's page, and search attributes for
 * lists and filters. Current details are a query and need a worker. Search attributes are stored, so they must suffice
 * without the details; they are written only when they change, because each write is an event.
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
