/** For readers who know neither the statuses nor the service. */
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, FAILURE_ENDS, type FailureClass, type FailureEnd } from '#domain/work/failure.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

interface DescribedWork {
  readonly kind: WorkKind;
  readonly status: WorkStatus;
  readonly failure?: { readonly class: FailureClass; readonly detail: string | null } | undefined;
  readonly attention?: AttentionReason | undefined;
  readonly isTimed: boolean;
  readonly isInDoubt?: boolean;
}

export function describeStatus(work: DescribedWork) {
  return { now: nowOf(work), reason: whyOf(work), next: nextOf(work) };
}

/** Of work that is held or not sent yet. */
export function endAtDeadline(kind: WorkKind): string {
  return KINDS[kind].isPurchase ? 'fails without having bought' : 'is refused without having been sent';
}

export function adviceOf({
  status,
  failure,
  endedBy,
  attention,
}: {
  readonly status: WorkStatus;
  readonly failure: FailureClass;
  readonly endedBy?: FailureEnd | null | undefined;
  readonly attention?: AttentionReason | null | undefined;
}): string {
  if (attention != null) return ATTENTION_REASONS[attention].advice;
  if (endedBy != null) return FAILURE_ENDS[endedBy].advice;
  const { advice, disposition } = FAILURE_CLASSES[failure];
  if (isFinal(status) && disposition !== 'fail')
    return 'If it is still wanted, submit it again with a new Idempotency-Key; the same reference may be used.';
  return status === 'held' && disposition === 'new_attempt'
    ? 'No action: nothing was charged, and a new attempt follows.'
    : advice;
}

/** The wallet is read before anything else happens. */
function isSettling({ status, failure, isTimed }: DescribedWork): boolean {
  return status === 'processing' && failure !== undefined && isTimed;
}

function nowOf(work: DescribedWork): string {
  const { kind, status, isInDoubt = false } = work;
  const { noun, isPurchase } = KINDS[kind];
  const subject = `The ${noun}`;
  if (isInDoubt && isFinal(status)) return `${subject} has ended as ${status}, and a case about it is open.`;
  if (isSettling(work))
    return `The service reports that the ${noun} failed; the wallet is read before anything follows.`;
  switch (status) {
    case 'accepted':
      return `${subject} is accepted and stored.`;
    case 'submitting':
      return `${subject} is being sent to the service, or the outcome of a send is being looked up.`;
    case 'held':
      return `${subject} is held until an obstacle passes.`;
    case 'processing':
      return isPurchase
        ? `The service has accepted the ${noun} and works on it.`
        : 'The service decides about the cancellation or its refund.';
    case 'needs_attention':
      return `${subject} waits for a person.`;
    case 'active':
      return `${subject} is active.`;
    case 'cancelling':
      return 'The customer has ended it, and its cancellation is requested at the service.';
    case 'completed':
      return `${subject} is completed.`;
    case 'failed':
      return `${subject} failed permanently; nothing was bought.`;
    case 'abandoned':
      return `${subject} was abandoned; ${isPurchase ? 'nothing was bought' : 'the eSIM is unchanged'}.`;
    case 'refused':
      return `${subject} is refused; the eSIM is unchanged.`;
    case 'cancelled':
      return `${subject} is cancelled.`;
    case 'expired':
      return `${subject} has expired.`;
  }
}

function whyOf(work: DescribedWork): string | undefined {
  const { status, failure, attention } = work;
  if (attention !== undefined) return ATTENTION_REASONS[attention].meaning;
  const isWaitingOrOver =
    status === 'held' ||
    status === 'failed' ||
    status === 'refused' ||
    status === 'submitting' ||
    status === 'cancelling' ||
    isSettling(work);
  return failure === undefined || !isWaitingOrOver
    ? undefined
    : (failure.detail ?? FAILURE_CLASSES[failure.class].meaning);
}

function nextOf(work: DescribedWork): string {
  const { kind, status, failure, attention, isTimed, isInDoubt = false } = work;
  if (isInDoubt && isFinal(status)) return 'An operator resolves the case; the list of cases shows its reason.';
  if (isSettling(work)) return 'If it cost nothing, it is attempted again or fails; otherwise a case is opened.';
  switch (status) {
    case 'accepted':
      return 'It is sent to the service when a worker has capacity, normally within moments.';
    case 'submitting':
      return isTimed
        ? 'The same bytes are sent again with the same key, or it is looked up at the service.'
        : 'The service answers. If the answer is lost, the same bytes are sent again, or it is looked up.';
    case 'held': {
      const advice = failure === undefined ? '' : ` ${adviceOf({ status, failure: failure.class })}`;
      const continues = isTimed ? 'It is tried again automatically' : 'It continues when the obstacle has passed';
      return `${continues}; at its deadline it ${endAtDeadline(kind)}.${advice}`;
    }
    case 'processing':
      return isTimed
        ? 'The missing part of its delivery is read from the service again.'
        : 'The service reports the outcome by webhook. Without a report it is looked up.';
    case 'needs_attention':
      return attention === undefined ? 'A person decides.' : ATTENTION_REASONS[attention].advice;
    case 'active':
      return 'It is renewed until it expires or is cancelled.';
    case 'cancelling':
      return failure !== undefined && isTimed
        ? 'The cancellation is requested again; a case opens if it is not accepted for long.'
        : 'The service confirms the cancellation. Without a confirmation it is looked up.';
    default:
      return 'Nothing follows: it has ended.';
  }
}
