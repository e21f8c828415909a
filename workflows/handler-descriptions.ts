/** The Temporal UI and `temporal workflow metadata` show these texts. */
import type { Money } from '#domain/money/money.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import type { RetryChangeRequest } from '#domain/retry/retry-change.ts';
import type { ActionBy, ResolveRequest } from '#workflows/messages.ts';

const ACTION_BY: ActionBy = { by: 'Ada', reason: 'The balance was topped up.' };

const LIMIT: ActionBy & { readonly max_price: Money } = {
  by: 'Ada',
  reason: 'Agreed with the customer.',
  max_price: { amount: '14.00', currency: 'USD' },
};

const RETRY_POLICY: ActionBy & RetryChangeRequest = {
  by: 'Ada',
  reason: 'The supplier is back in an hour.',
  attempts: 5,
  first_wait_seconds: 900,
};

const RESOLVE: ResolveRequest = {
  by: 'Ada',
  reason: 'Their support says that it was never sold.',
  case: 'outcome_unknown',
  verdict: 'not_bought',
  next: 'abandon',
};

const OBSERVATION: ServiceObservation = {
  inboxId: '17.6b86b273ff34fce1',
  source: 'webhook',
  attemptNumber: 1,
  outcome: 'completed',
  decision: 'advance',
};

const DELIVERIES_WAIT = { urgent: true };

export const HANDLER_EXAMPLES = {
  retry: ACTION_BY,
  release: ACTION_BY,
  abandon: ACTION_BY,
  changeLimit: LIMIT,
  changeRetryPolicy: RETRY_POLICY,
  resolve: RESOLVE,
  serviceObserved: OBSERVATION,
  deliveriesWait: DELIVERIES_WAIT,
} as const;

const BY_AND_REASON = '`by`: your name; `reason`: a reason without personal data.';

function withExample(text: string, name: keyof typeof HANDLER_EXAMPLES): string {
  return `${text} Example: ${JSON.stringify(HANDLER_EXAMPLES[name])}`;
}

export const HANDLER_DESCRIPTIONS = {
  retry: withExample(`Retries at once work that is held or needs attention. ${BY_AND_REASON}`, 'retry'),
  release: withExample(
    `Releases held work through the purchase gate, past pauses and open circuits. ${BY_AND_REASON}`,
    'release',
  ),
  abandon: withExample(`Ends work that bought nothing; refused while it may be bought. ${BY_AND_REASON}`, 'abandon'),
  changeLimit: withExample(
    `Changes the highest price that the service may charge; \`max_price\` null removes the limit. ${BY_AND_REASON}`,
    'changeLimit',
  ),
  changeRetryPolicy: withExample(
    'Changes the retry rule: at least one of `attempts`, `first_wait_seconds`, `longest_wait_seconds` and `deadline` ' +
      `(RFC 3339); null removes an earlier change. ${BY_AND_REASON}`,
    'changeRetryPolicy',
  ),
  resolve: withExample(
    'Decides about a case: `case` is its reason, `verdict` one of bought, not_bought, refunded, dismissed. With ' +
      'bought: `service_id` and ' +
      '`service_esim_id`, where they are not known. With not_bought: `next`, continue (a new attempt) or ' +
      `abandon. ${BY_AND_REASON}`,
    'resolve',
  ),
  explain:
    'Its state and the reason, the next step, and whether it may be submitted again. Takes no argument. Example: []',
  memory:
    'What this run knows of its newest attempt, for the run after a terminated one. Takes no argument. Example: []',
  serviceObserved: withExample(
    'Sent only by the relay: a report of the service, judged and stored in PostgreSQL.',
    'serviceObserved',
  ),
  operatorActed:
    "Sent only by the relay: an operator's action was stored in PostgreSQL. Takes no argument. Example: []",
  deliveriesWait: withExample(
    'Sent only by the relay: deliveries are queued for the endpoint; `urgent` when a person waits for it.',
    'deliveriesWait',
  ),
} as const;
