import type { Money } from '#domain/money/money.ts';
/**
 * What the Temporal UI and `temporal workflow metadata` show of each signal, query and update: its JSON, with an
 * example.
 */
import type { ActedBy, ResolveRequest, RetryPolicyRequest, ServiceObservation } from '#workflows/messages.ts';

const ACTED_BY: ActedBy = { by: 'Ada', why: 'The balance was topped up.' };

const LIMIT: ActedBy & { readonly max_price: Money } = {
  by: 'Ada',
  why: 'Agreed with the customer.',
  max_price: { amount: '14.00', currency: 'USD' },
};

const RETRY_POLICY: RetryPolicyRequest = {
  by: 'Ada',
  why: 'The supplier is back in an hour.',
  attempts: 5,
  first_wait_seconds: 900,
};

const RESOLVE: ResolveRequest = {
  by: 'Ada',
  why: 'Their support says that it was never sold.',
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

/** An argument that each handler takes; the others take none. */
export const HANDLER_EXAMPLES = {
  retry: ACTED_BY,
  release: ACTED_BY,
  abandon: ACTED_BY,
  changeLimit: LIMIT,
  changeRetryPolicy: RETRY_POLICY,
  resolve: RESOLVE,
  serviceObserved: OBSERVATION,
  deliveriesWait: DELIVERIES_WAIT,
} as const;

const WHO = '`by`: your name; `why`: a reason without personal data.';

function withExample(text: string, name: keyof typeof HANDLER_EXAMPLES): string {
  return `${text} Example: ${JSON.stringify(HANDLER_EXAMPLES[name])}`;
}

/** By name of the signal, query or update. */
export const HANDLER_DESCRIPTIONS = {
  retry: withExample(`Tries again now what is held or needs attention. ${WHO}`, 'retry'),
  release: withExample(
    `Lets through the purchase gate now what is held, past pauses and open circuits. ${WHO}`,
    'release',
  ),
  abandon: withExample(`Gives up for good what bought nothing; refused while it may be bought. ${WHO}`, 'abandon'),
  changeLimit: withExample(
    `Changes the most that the service may charge; \`max_price\` null takes the limit away. ${WHO}`,
    'changeLimit',
  ),
  changeRetryPolicy: withExample(
    'Changes how it is tried again: at least one of `attempts`, `first_wait_seconds`, `longest_wait_seconds` and `deadline` ' +
      `(RFC 3339); null takes a change back. ${WHO}`,
    'changeRetryPolicy',
  ),
  resolve: withExample(
    'Judges a case: `case` is its reason, `verdict` one of bought, not_bought, refunded, dismissed. With bought: `service_id` and ' +
      `\`service_esim_id\`, where they are not known. With not_bought: \`next\`, continue (buy anew) or abandon. ${WHO}`,
    'resolve',
  ),
  explain:
    'Where it stands, why, what comes next, and whether it may be submitted again. Takes no argument. Example: []',
  remembered:
    'What it knows of its newest attempt, for a run that follows one that was terminated. Takes no argument. Example: []',
  serviceObserved: withExample(
    'Sent by the relay alone: what the service reported, judged and stored in PostgreSQL.',
    'serviceObserved',
  ),
  operatorActed:
    "Sent by the relay alone: PostgreSQL holds an operator's action; the workflow reads it. Takes no argument. Example: []",
  deliveriesWait: withExample(
    'Sent by the relay alone: deliveries wait for the endpoint; `urgent` where a person waits for it.',
    'deliveriesWait',
  ),
} as const;
