import type { ApiDependencies } from '#api/dependencies.ts';
import { answerOnce, readIdempotencyKey } from '#api/http/idempotency.ts';
import { type Caller, type DocumentedAnswer, type Incoming, invalid } from '#api/http/operation.ts';
import { preferredWait } from '#api/http/prefer.ts';
import { type Reply, jsonReply } from '#api/http/reply.ts';
import { Problem } from '#api/problems/problem.ts';
import { type LimitOfRequest, limitOfRequest } from '#api/quotes/limit-of-request.ts';
import type { QuotedItem } from '#api/quotes/quote-token.ts';
import type { ExpandName } from '#api/work/expand.ts';
import { RETRY_AFTER_SECONDS, locatedId, replyAfterPreferredWait } from '#api/work/long-poll.ts';
import { plainWork, viewOfWork } from '#api/work/shown-work.ts';
import type { WorkJson, WorkResource } from '#api/work/work-resource.ts';
import { requestKey, workId } from '#crypto/derived-ids.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { readHolder } from '#db/work/reference-holders.ts';
import { workExists } from '#db/work/work-reads.ts';
import type { Money } from '#domain/money/money.ts';
import type { WhenUsedUp } from '#domain/retry/retry-rules.ts';
import { FIRST_USE, nextUse, type ReferenceUse } from '#domain/work/identifiers.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { isFinished } from '#domain/work/lifecycle.ts';
import type { Acceptance, NewWork } from '#fulfilment/accept/work.ts';
import { currentTraceparent } from '#telemetry/tracing.ts';

/** The part of a request that is the same for work of every kind. */
interface CreationRequest {
  readonly body: {
    readonly max_price?: Money | undefined;
    readonly customer_price?: Money | undefined;
    readonly quote_id?: string | undefined;
    readonly deadline?: Date | undefined;
    readonly when_attempts_are_used_up?: WhenUsedUp | undefined;
    readonly metadata?: NewWork['metadata'] | undefined;
  };
  readonly query: { readonly expand?: readonly ExpandName[] | undefined };
  readonly json: unknown;
  /** Method and path of the call. */
  readonly target: string;
  /** The reference that identifies the work; undefined when the caller gave none. */
  readonly named: string | undefined;
  readonly header: Incoming['header'];
  readonly caller: Caller;
  readonly onClose: Incoming['onClose'];
  readonly requestId: string;
}

/** What is known about a purchase before its transaction. */
interface PurchaseCheck {
  /** Why new work cannot succeed. A repeated request gets its answer or the existing work all the same. */
  readonly objection: Problem | undefined;
  /** What a quote must be about; undefined for a kind without quotes. */
  readonly item: Omit<QuotedItem, 'lineageId' | 'kind'> | undefined;
}

/**
 * Creates work once for an Idempotency-Key, and once for the caller's reference.
 *
 * The id is derived from the permanent identity of the work: the caller's reference, or a permanent key.
 * If PostgreSQL loses the row with its last commits, a caller that retries gets the same work, and its purchase
 * the same idempotency key. A reference whose work ended without buying gets new work with the id of its next use.
 *
 * @param accept stores the work; its error becomes the answer.
 * @param show the stored row as the API shows it to this caller.
 */
export async function createWork<Row>(
  dependencies: ApiDependencies,
  resource: WorkResource,
  { body, query: { expand }, json, target, named, header, onClose, caller, requestId }: CreationRequest,
  accept: (tx: Executor, work: NewWork, now: Date) => Promise<Acceptance<Row>>,
  show: (row: Row) => WorkJson,
  { objection, item }: PurchaseCheck,
): Promise<Reply> {
  const { kind, path, reference } = resource;
  const { lineageId, ownerId } = caller;
  const traceparent = currentTraceparent();
  // Before anything is stored. The stored answer is the plain one: a repetition gets the same bytes, and no secret is
  // stored with it.
  const view = viewOfWork(dependencies, resource, expand, { caller, isHead: false });
  if (expand !== undefined && preferredWait(header('Prefer')) === undefined) throw invalid([EXPANDED_AT_ONCE]);
  const isNamed = named !== undefined;
  const reply = await answerOnce(
    dependencies,
    { lineageId, header: header('Idempotency-Key'), target, json, isKeptForGood: !isNamed },
    async (tx) => {
      const now = new Date(dependencies.now());
      // Only new work needs a future deadline: a repetition may arrive after it.
      requireFuture(body.deadline, now);
      const key = readIdempotencyKey(header('Idempotency-Key'));
      const naming = isNamed ? ['reference', named] : ['idempotency_key', lineageId, key];
      const idOf = ({ number }: ReferenceUse) =>
        isNamed && !reference.isForGood
          ? newId(kind)
          : workId(dependencies.keyRing, kind, number === 1 ? naming : [...naming, 'use', String(number)]);
      const { limit, error, isExpired } = limitOf(dependencies, body, { lineageId, kind, item }, now);
      const work = {
        apiKeyId: lineageId,
        requestId,
        traceparent,
        requestKey: requestKey(dependencies.keyRing, lineageId, key),
        maxPrice: limit ?? null,
        customerPrice: body.customer_price,
        deadlineAt: body.deadline ?? null,
        whenUsedUp: body.when_attempts_are_used_up,
        metadata: body.metadata ?? {},
      };
      const acceptAs = (use: ReferenceUse) => accept(tx, { ...work, id: idOf(use), use }, now);
      let intake = await acceptAs(FIRST_USE);
      if (!intake.accepted && isNamed && reference.isForGood) {
        const holder = await readHolder(tx, { kind, id: intake.existingId }, ownerId, work.requestKey);
        const use = holder && nextUse(holder);
        if (use !== undefined) intake = await acceptAs(use);
      }
      if (!intake.accepted) throw await alreadyExists(tx, resource, intake.existingId, ownerId);
      // Last: a repeated request was answered before, and a used reference has its own problem.
      if (objection !== undefined) throw objection;
      if (error !== undefined) throw isExpired ? new Problem('quote_expired') : invalid([error]);
      const headers = { Location: `${path}/${intake.id}`, 'Retry-After': String(RETRY_AFTER_SECONDS) };
      return jsonReply(202, plainWork(show(intake.row)), headers);
    },
  );
  const id = locatedId(resource, reply);
  const find = () => resource.findTogether(id, ownerId);
  const waiter = { id, header, onClose, find, show: view.afterWait, caller };
  return replyAfterPreferredWait(dependencies, waiter, reply, {
    when: isFinished,
    status: 201,
  });
}

/** The part of the description of `expand` for calls that create work. */
export const EXPAND_NEEDS_WAIT =
  ' Only with `Prefer: wait=N`. Absent when the work is accepted but cannot be read at the end of the wait.';

const EXPANDED_AT_ONCE = {
  in: 'query',
  field: 'expand',
  message: 'needs the header `Prefer: wait=N`: nothing has been bought when the answer comes at once',
} as const;

/** Headers of answers to callers who may wait (`Prefer: wait=N`), for their description. */
export function waitingHeaders(kind: WorkKind) {
  return {
    Location: `Address of the ${KINDS[kind].noun}.`,
    'Preference-Applied': 'With `Prefer: wait=N`: `wait=` and the seconds granted. Absent when the API did not wait.',
  } as const;
}

/** The header of an answer about work that has not finished. */
export const retryAfterHeader = { 'Retry-After': 'Seconds after which to read it again.' } as const;

/** The answers of a call that creates work, for its description. */
export function creationAnswers({ kind, output, example }: WorkResource): Readonly<Record<number, DocumentedAnswer>> {
  const noun = KINDS[kind].noun;
  const common = { contentType: 'application/json', schema: output, example } as const;
  const headers = waitingHeaders(kind);
  return {
    201: {
      ...common,
      description: `With \`Prefer: wait=N\`: the ${noun} is finished; \`status\` tells how.`,
      headers,
    },
    202: {
      ...common,
      description: `The ${noun} is stored and will be processed.`,
      headers: { ...headers, ...retryAfterHeader },
    },
  };
}

/** The limit of a purchase: its own, or the price of its quote. */
function limitOf(
  { keyRing }: ApiDependencies,
  body: CreationRequest['body'],
  { lineageId, kind, item }: Pick<QuotedItem, 'lineageId'> & Pick<PurchaseCheck, 'item'> & { readonly kind: WorkKind },
  now: Date,
): LimitOfRequest {
  if (item === undefined || kind === 'cancellation') return { limit: body.max_price };
  return limitOfRequest(keyRing, body, { lineageId, kind, ...item }, now.getTime());
}

function requireFuture(deadline: Date | undefined, now: Date): void {
  if (isPast(deadline, now)) throw invalid([PAST_DEADLINE]);
}

/** True for a deadline that has passed. */
export function isPast(deadline: Date | undefined, now: Date): boolean {
  return deadline !== undefined && deadline <= now;
}

/** The error of a deadline that has passed. */
export const PAST_DEADLINE = { in: 'body', field: 'deadline', message: 'must lie in the future' } as const;

/**
 * The problem with the existing work; a key that is limited to its own work gets no id of other work.
 */
export async function alreadyExists(
  db: Executor,
  { kind, path, reference: { field, taken: code } }: Pick<WorkResource, 'kind' | 'path' | 'reference'>,
  id: string,
  owner: Owner,
): Promise<Problem> {
  if (!(await workExists(db, { kind, id }, owner))) {
    return new Problem(code, { detail: `This ${field} is used by work that this API key may not see.` });
  }
  const noun = KINDS[kind].noun;
  return new Problem(code, {
    detail: `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${id} exists for this ${field}.`,
    extra: { existing: { id, href: `${path}/${id}` } },
  });
}
