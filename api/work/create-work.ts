import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { answerOnce, readIdempotencyKey } from '#api/http/idempotency.ts';
import { type CallerRequest, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import type { ProblemCode } from '#api/problems/problem-catalogue.ts';
import { invalid, Problem } from '#api/problems/problem.ts';
import { limitOfRequest, type QuotedItem } from '#api/quotes/quote-token.ts';
import { expandInQuery, type ExpandName, plainWork, viewOfWork } from '#api/work/expand.ts';
import { locatedId, preferredWait, replyAfterPreferredWait, RETRY_AFTER_SECONDS } from '#api/work/long-poll.ts';
import type { WorkJson, WorkResource } from '#api/work/work-resource.ts';
import { requestKey, workId } from '#crypto/derived-ids.ts';
import { scopesOfKind } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { readHolder } from '#db/work/reference-holders.ts';
import { workExists } from '#db/work/work-reads.ts';
import type { Money } from '#domain/money/money.ts';
import type { WhenUsedUp } from '#domain/retry/retry-rules.ts';
import { capitalized } from '#domain/text.ts';
import { FIRST_USE, nextUse, type ReferenceUse } from '#domain/work/identifiers.ts';
import { KINDS, type PurchaseKind, type WorkKind } from '#domain/work/kinds.ts';
import { isFinished } from '#domain/work/lifecycle.ts';
import type { Acceptance, NewWork } from '#fulfilment/accept/work.ts';
import { currentTraceparent } from '#telemetry/tracing.ts';

interface WorkTerms {
  readonly max_price?: Money | undefined;
  readonly customer_price?: Money | undefined;
  readonly quote_id?: string | undefined;
  readonly deadline?: Date | undefined;
  readonly when_attempts_are_used_up?: WhenUsedUp | undefined;
  readonly metadata?: Record<string, string> | undefined;
}

export interface WorkReference {
  readonly field: string;
  readonly taken: ProblemCode;
  /** False when it is free again after its work has ended. */
  readonly isForGood: boolean;
}

export function callerReference(kind: PurchaseKind) {
  const field = KINDS[kind].callerReference;
  return { field, taken: `${field}_taken`, isForGood: true } as const satisfies WorkReference;
}

interface Creation<Row> {
  readonly reference: WorkReference;
  readonly named: string | undefined;
  /** Found before the transaction. A repeated request gets its answer or the existing work all the same. */
  readonly objection?: Problem | undefined;
  /** Absent for a kind without quotes. */
  readonly item?: Pick<QuotedItem, 'itemId' | 'esimId' | 'kind'>;
  readonly accept: (tx: Executor, work: NewWork, now: Date) => Promise<Acceptance<Row>>;
  readonly show: (row: Row) => WorkJson;
}

/**
 * Creates work once for an Idempotency-Key, and once for the caller's reference. The id is derived from the caller's
 * reference, or from a permanent key: if PostgreSQL loses the row with its last commits, a caller that retries gets the
 * same work, and its purchase the same idempotency key. A reference whose work ended without buying gets new work with
 * the id of its next use.
 */
export async function createWork<Row>(
  dependencies: ApiDependencies,
  resource: WorkResource,
  request: CallerRequest & { body: WorkTerms; query: { expand?: readonly ExpandName[] | undefined } },
  { reference, named, objection, item, accept, show }: Creation<Row>,
): Promise<Reply> {
  const { body, header, caller, onClose } = request;
  const { expand } = request.query;
  const { kind } = resource;
  const { path } = KINDS[kind];
  const { lineageId, ownerId } = caller;
  const origin = originOf(dependencies, request);
  // Before anything is stored. The stored answer is the plain one: a repetition gets the same bytes, and no secret is
  // stored.
  const view = viewOfWork(dependencies, resource, expand, { caller, isHead: false });
  if (expand !== undefined && preferredWait(header('Prefer')) === undefined) {
    const message = 'needs the header `Prefer: wait=N`: nothing has been bought when the answer comes at once';
    throw invalid([{ in: 'query', field: 'expand', message }]);
  }
  const isNamed = named !== undefined;
  const reply = await answerOnce(
    dependencies,
    request,
    async (tx) => {
      const now = new Date(dependencies.now());
      // Only new work needs a future deadline: a repetition may arrive after it.
      if (isPast(body.deadline, now)) throw invalid([PAST_DEADLINE]);
      const key = readIdempotencyKey(header('Idempotency-Key'));
      const naming = isNamed ? ['reference', named] : ['idempotency_key', lineageId, key];
      const idOf = ({ number }: ReferenceUse) =>
        isNamed && !reference.isForGood
          ? newId(kind)
          : workId(dependencies.keyRing, kind, number === 1 ? naming : [...naming, 'use', String(number)]);
      const { limit, error, isExpired } =
        item === undefined
          ? { limit: body.max_price }
          : limitOfRequest(dependencies.keyRing, body, { lineageId, ...item }, now.getTime());
      const work = { ...origin, ...columnsOf(body, limit) };
      const acceptAs = (use: ReferenceUse) =>
        accept(tx, { ...work, id: idOf(use), referenceUse: use.number, replacesId: use.replaces }, now);
      let intake = await acceptAs(FIRST_USE);
      if (!intake.accepted && isNamed && reference.isForGood) {
        const holder = await readHolder(tx, { kind, id: intake.existingId }, ownerId, work.requestKey);
        const use = holder && nextUse(holder);
        if (use !== undefined) intake = await acceptAs(use);
      }
      if (!intake.accepted) throw await alreadyExists(tx, kind, reference, intake.existingId, ownerId);
      // Last: a repeated request was answered before, and a used reference has its own problem.
      if (objection !== undefined) throw objection;
      if (error !== undefined) throw isExpired ? new Problem('quote_expired') : invalid([error]);
      const headers = { Location: `${path}/${intake.id}`, 'Retry-After': String(RETRY_AFTER_SECONDS) };
      return jsonReply(202, plainWork(show(intake.row)), headers);
    },
    !isNamed,
  );
  const id = locatedId(path, reply);
  const find = () => resource.findTogether(id, ownerId);
  const scope = scopesOfKind(kind).write;
  const waiter = { id, header, onClose, find, show: view.afterWait, caller, scope };
  return replyAfterPreferredWait(dependencies, waiter, reply, { when: isFinished, status: 201 });
}

/** Outside the transaction: the trace is that of the request. */
export function originOf({ keyRing }: ApiDependencies, { caller: { lineageId }, header, requestId }: CallerRequest) {
  return {
    apiKeyId: lineageId,
    requestId,
    traceparent: currentTraceparent(),
    requestKey: requestKey(keyRing, lineageId, readIdempotencyKey(header('Idempotency-Key'))),
  };
}

export function columnsOf(terms: WorkTerms, limit: Money | undefined) {
  return {
    maxPriceAmount: limit?.amount,
    maxPriceCurrency: limit?.currency,
    customerPrice: terms.customer_price?.amount,
    customerPriceCurrency: terms.customer_price?.currency,
    deadlineAt: terms.deadline,
    whenUsedUp: terms.when_attempts_are_used_up,
    metadata: terms.metadata,
  };
}

export function creationCall({ kind, expansions }: WorkResource) {
  const note =
    ' Only with `Prefer: wait=N`. Absent when the work is accepted but cannot be read at the end of the wait.';
  return {
    scope: scopesOfKind(kind).write,
    query: z.strictObject({ expand: expandInQuery(kind, expansions, note) }),
    idempotent: true,
    prefersWait: true,
  } as const;
}

export function waitingHeaders(kind: WorkKind) {
  return {
    Location: `Address of the ${KINDS[kind].noun}.`,
    'Preference-Applied': 'With `Prefer: wait=N`: `wait=` and the seconds granted. Absent when the API did not wait.',
  } as const;
}

export const retryAfterHeader = { 'Retry-After': 'Seconds after which to read it again.' } as const;

export function creationAnswers({ kind, output }: WorkResource, unbought: Readonly<Record<string, unknown>>) {
  const { noun } = KINDS[kind];
  const headers = waitingHeaders(kind);
  return {
    201: jsonAnswer(`With \`Prefer: wait=N\`: the ${noun} is finished; \`status\` tells how.`, output, { headers }),
    202: jsonAnswer(`The ${noun} is stored and will be processed.`, output, {
      example: { status: 'accepted', ...unbought, completed_at: null },
      headers: { ...headers, ...retryAfterHeader },
    }),
  };
}

export function isPast(deadline: Date | undefined, now: Date): boolean {
  return deadline !== undefined && deadline <= now;
}

export const PAST_DEADLINE = { in: 'body', field: 'deadline', message: 'must lie in the future' } as const;

/** A key that is limited to its own work gets no id of other work. */
export async function alreadyExists(
  db: Executor,
  kind: WorkKind,
  { field, taken: code }: WorkReference,
  id: string,
  owner: Owner,
): Promise<Problem> {
  if (!(await workExists(db, { kind, id }, owner))) {
    return new Problem(code, { detail: `This ${field} is used by work that this API key may not see.` });
  }
  const { noun, path } = KINDS[kind];
  return new Problem(code, {
    detail: `${capitalized(noun)} ${id} exists for this ${field}.`,
    extra: { existing: { id, href: `${path}/${id}` } },
  });
}
