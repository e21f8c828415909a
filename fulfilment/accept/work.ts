import { noteFact } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { requestStart } from '#db/queues/outbox.ts';
import type { WorkRow } from '#db/work/rows.ts';
import { addTimelineEntry, type TimelineEntry } from '#db/work/timeline.ts';
import type { Money } from '#domain/money/money.ts';
import type { WhenUsedUp } from '#domain/retry/retry-rules.ts';
import { FIRST_USE, type ReferenceUse } from '#domain/work/identifiers.ts';
import { KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';
import type { WorkFact } from '#domain/work/work-fact.ts';
import { acceptedEvent } from '#fulfilment/work/events.ts';

export interface NewWork {
  readonly id: string;
  readonly apiKeyId: string;
  /** For logs. */
  readonly requestId?: string;
  /** Absent: the request is not traced. */
  readonly traceparent?: string | undefined;
  readonly maxPrice: Money | null;
  readonly customerPrice?: Money | undefined;
  readonly deadlineAt: Date | null;
  /** Absent: as the policy has it. */
  readonly whenUsedUp?: WhenUsedUp | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** Absent: the first use. */
  readonly use?: ReferenceUse;
  /** Keyed hash of the caller and the Idempotency-Key; absent: unknown. */
  readonly requestKey?: Buffer;
}

export interface NewCustomer {
  /** Encrypted for `customerReferenceAad`. */
  readonly encryptedCustomerReference: Buffer;
  /** Keyed hash of the same, for searches. */
  readonly customerReferenceHash: Buffer;
}

export type Acceptance<Row = unknown> =
  | { readonly accepted: true; readonly id: string; readonly row: Row }
  /** One reference makes work once, whatever key or caller is used. */
  | { readonly accepted: false; readonly existingId: string };

export function newWorkColumns(work: NewWork, now: Date) {
  const { id, apiKeyId, maxPrice, deadlineAt, whenUsedUp, metadata, requestId, traceparent } = work;
  return {
    id,
    apiKeyId,
    maxPriceAmount: maxPrice?.amount ?? null,
    maxPriceCurrency: maxPrice?.currency ?? null,
    deadlineAt,
    whenUsedUp: whenUsedUp ?? null,
    metadata: { ...metadata },
    createdAt: now,
    updatedAt: now,
    requestId: requestId ?? null,
    traceparent: traceparent ?? null,
  };
}

export function newReferenceColumns({ use = FIRST_USE, requestKey }: Pick<NewWork, 'use' | 'requestKey'>) {
  return { referenceUse: use.number, replacesId: use.replaces, requestKey: requestKey ?? null };
}

export function newCustomerColumns(customer: NewCustomer | undefined) {
  return {
    encryptedCustomerReference: customer?.encryptedCustomerReference ?? null,
    customerReferenceHash: customer?.customerReferenceHash ?? null,
  };
}

export function newCustomerPriceColumns({ customerPrice }: Pick<NewWork, 'customerPrice'>) {
  return { customerPrice: customerPrice?.amount ?? null, customerPriceCurrency: customerPrice?.currency ?? null };
}

export function replaced({ use }: Pick<NewWork, 'use'>): { readonly replaces?: string } {
  return use?.replaces == null ? {} : { replaces: use.replaces };
}

export function acceptedEntry(kind: WorkKind, detail: TimelineEntry['detail'] & object, now: Date) {
  const event = `${kind}.accepted`;
  const message = `The ${KINDS[kind].noun} was accepted and stored; its workflow is about to start.`;
  return { event, message, detail, dedupKey: event, at: now };
}

function acceptedFact({ kind, id }: WorkRef, row: WorkRow): WorkFact {
  const { status, failureClass, attentionReason, requestId, traceparent, createdAt: acceptedAt } = row;
  const reasons = { previous: undefined, failureClass, attentionReason };
  return { fact: 'status', kind, id, requestId, traceparent, status, ...reasons, acceptedAt, isCompletion: false };
}

/**
 * Runs in the caller's transaction.
 * `insert` names no conflict target: the id follows from the reference and its use, so a concurrent insert may
 * conflict with several indexes. `holder` runs after the insert has waited for the other transaction, so that row is
 * committed and visible.
 */
export async function acceptWork<Row extends WorkRow>(
  tx: Executor,
  work: WorkRef,
  intake: {
    readonly insert: () => PromiseLike<readonly Row[]>;
    readonly holder: () => PromiseLike<readonly { readonly id: string }[]>;
    readonly detail: TimelineEntry['detail'] & object;
  },
  now: Date,
): Promise<Acceptance<Row>> {
  const [inserted] = await intake.insert();
  if (inserted === undefined) {
    const [holder] = await intake.holder();
    if (holder === undefined)
      throw new Error(`a ${KINDS[work.kind].noun} took this reference and is gone: none is ever deleted`);
    return { accepted: false, existingId: holder.id };
  }
  await requestStart(tx, work);
  await addTimelineEntry(tx, work, acceptedEntry(work.kind, intake.detail, now));
  await recordEvent(tx, acceptedEvent(work, inserted), now);
  noteFact(tx, acceptedFact(work, inserted));
  return { accepted: true, id: work.id, row: inserted };
}
