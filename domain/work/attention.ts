/** The closed set of reasons of cases, each with its meaning and with advice for the operator. */
export const ATTENTION_REASONS = {
  outcome_unknown: {
    meaning: 'The service may have bought, and neither sending again nor asking has settled it.',
    advice:
      "Look the reference up in the service's own console and `resolve` the case; the reconciler keeps asking " +
      'meanwhile.',
  },
  failed_but_charged: {
    meaning: 'The service reports a failure, but its wallet shows a debit for it and no credit.',
    advice: 'Ask the service for the credit, then `retry`, or `resolve` the case with what the service says.',
  },
  evidence_unavailable: {
    meaning: 'The service reports a failure, and the wallet could not be read to prove that nothing was charged.',
    advice: 'Check the wallet by hand and `resolve` the case; nothing is bought anew without that proof.',
  },
  attempts_used_up: {
    meaning: 'Every allowed attempt failed, each provably without a charge.',
    advice: 'Find out why the supplier fails, then `retry`, which grants one more attempt, or `abandon`.',
  },
  records_lost: {
    meaning: 'PostgreSQL has lost what was recorded of it: it may have been bought, and the service does not say so.',
    advice: "Look the reference up in the service's console and wallet, then `resolve` the case with what is true.",
  },
  service_not_answering: {
    meaning: 'The service could not be asked what became of it, or answers no send of it. It is asked again by itself.',
    advice:
      'Nothing, unless the service is back: `retry` asks at once. `resolve` the case only with what you have ' +
      'seen at the service.',
  },
  stalled: {
    meaning:
      'It does not move because of ourselves: its sends do not begin, or what the service said is not judged. It ' +
      'is tried again by itself.',
    advice: 'Look at the logs of the worker and at rows of the inbox that are pending, then `retry`.',
  },
  contradiction: {
    meaning: 'The service said something that contradicts what is known already, or the end that was reached.',
    advice: "Compare the timeline with the service's console and wallet, then `resolve` the case with what is true.",
  },
  contract_drift: {
    meaning: 'The service delivered something that we cannot read.',
    advice: 'Compare the interface of the service with the contract, then `retry`.',
  },
  delivery_unavailable: {
    meaning: 'It is bought, but what was bought could not be read from the service for a long time.',
    advice: 'Check that the service answers, then `retry`.',
  },
  charged_above_limit: {
    meaning: 'The service charged more than the max_price that the caller set.',
    advice: 'Compare the price list with the wallet and claim the difference; the purchase itself is complete.',
  },
  debited_twice: {
    meaning:
      'The wallet shows a debit too many for it: twice for one purchase, or after a subscription had ended. ' +
      'Money was lost.',
    advice:
      'Claim the money from the service, then `resolve` the case with `dismissed`; its credit is matched when it ' +
      'comes.',
  },
  charge_not_refunded: {
    meaning: 'It came to nothing, and the wallet shows a debit for it that was not given back.',
    advice: 'Ask the service for the credit, then `resolve` the case with `dismissed`.',
  },
  amount_differs: {
    meaning: 'The service moved another amount in the wallet than it had told us.',
    advice: 'Compare the wallet with the price, claim the difference, then `resolve` the case with `dismissed`.',
  },
  movement_missing: {
    meaning: 'Our books have a movement for it that the wallet at the service does not show.',
    advice: "Look for it in the service's console. It may still come; else `resolve` the case with `dismissed`.",
  },
  cancellation_refused: {
    meaning: 'The service does not cancel the subscription.',
    advice: 'Ask the service why. `retry` asks it to cancel once more; `dismissed` lets the subscription go on.',
  },
  refund_failed: {
    meaning: 'The eSIM is cancelled, and the service says that its refund failed.',
    advice:
      'Ask the service for the money. `retry` looks again; `refunded` says that it came, `dismissed` goes on ' +
      'without it.',
  },
  refund_missing: {
    meaning: 'The refund was not decided for a long time, or its money is not in the wallet.',
    advice:
      'Ask the service for the money. `retry` looks again; `refunded` says that it came, `dismissed` goes on ' +
      'without it.',
  },
  message_quarantined: {
    meaning:
      'A report of the service about it, or a request to start or wake its workflow, cannot be processed and was ' +
      'put aside.',
    advice:
      'Find the cause in the detail and correct it, then requeue the dead letter, or dismiss it; either closes ' +
      'the case.',
  },
  webhook_conflict: {
    meaning: 'Two different bodies came under one delivery id.',
    advice: 'Check who can send to the webhook address, and whether the webhook secret has leaked.',
  },
} as const satisfies Record<string, { meaning: string; advice: string }>;

export type AttentionReason = keyof typeof ATTENTION_REASONS;

/** Reasons that only a person can judge: such a case stays open when the work continues. */
export const JUDGED_BY_PERSONS = [
  'contradiction',
  'charged_above_limit',
  'debited_twice',
  'charge_not_refunded',
  'amount_differs',
  'movement_missing',
  'message_quarantined',
] as const satisfies readonly AttentionReason[];
