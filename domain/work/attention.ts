/** `forCaller` is for a shop: it says nothing about the account, such as the wallet. */
export const ATTENTION_REASONS = {
  outcome_unknown: {
    meaning: 'The service may have bought it. Neither a resend nor a look-up has shown the outcome.',
    forCaller: 'It may have been bought. Its outcome is not known; a person finds it out.',
    advice:
      "Look the reference up in the service's own console and `resolve` the case. The reconciler continues to look " +
      'it up.',
  },
  failed_but_charged: {
    meaning: 'The service reports a failure, but its wallet shows a debit for it and no credit.',
    forCaller: 'It failed and was charged. A person claims the money before it is bought again.',
    advice:
      'Ask the service for the credit. The case is judged again when the books show it; `retry` looks at once. Or ' +
      '`resolve` the case with the answer of the service.',
  },
  evidence_unavailable: {
    meaning: 'The service reports a failure, and the wallet could not be read to prove that nothing was charged.',
    forCaller: 'It failed, and it is not proven that it cost nothing. A person checks that before it is bought again.',
    advice: 'Check the wallet by hand and `resolve` the case. Without that proof nothing is bought again.',
  },
  attempts_used_up: {
    meaning: 'Every allowed attempt failed, each provably without a charge.',
    forCaller: 'Every attempt failed, and none was charged. A person decides whether another one follows.',
    advice: 'Find out why the supplier fails, then `retry`, which grants one more attempt, or `abandon`.',
  },
  records_lost: {
    meaning: 'PostgreSQL has lost its records. It may have been bought, and a look-up at the service does not show it.',
    forCaller: 'It may have been bought. Records about it are lost; a person finds its outcome out.',
    advice: "Look the reference up in the service's console and wallet, then `resolve` the case with the true result.",
  },
  service_not_answering: {
    meaning: 'Its look-ups or its sends at the service get no answer. They are repeated automatically.',
    forCaller: 'The service does not answer about it. It is asked again automatically.',
    advice:
      'When the service answers again, `retry` looks it up at once. `resolve` the case only with a result that you ' +
      'have seen at the service.',
  },
  stalled: {
    meaning:
      'It does not continue for a reason on our side: its sends do not begin, or a report of the service is not ' +
      'processed. It is tried again automatically.',
    forCaller: 'A fault on our side delays it. It is tried again automatically.',
    advice: 'Look at the logs of the worker and at rows of the inbox that are pending, then `retry`.',
  },
  contradiction: {
    meaning: 'A report of the service contradicts an earlier report or the final status.',
    forCaller: 'The service has reported different outcomes of it. A person finds out which one is true.',
    advice: "Compare the timeline with the service's console and wallet, then `resolve` the case with the true result.",
  },
  contract_drift: {
    meaning: 'The delivery of the service cannot be read.',
    forCaller: 'The service delivers it in a form that cannot be read yet. A person looks at it.',
    advice:
      'Compare the interface of the service with the contract. It is read again automatically, with growing waits ' +
      'and after each start of a worker; `retry` reads it now. `npx reseller gate show` names what its drift stopped.',
  },
  delivery_unavailable: {
    meaning: 'It is bought, but its delivery could not be read from the service for a long time.',
    forCaller: 'It is bought, and its delivery could not be read for a long time. A person looks at it.',
    advice: 'Check that the service answers, then `retry`.',
  },
  iccid_unreadable: {
    meaning: 'The eSIM was delivered without its ICCID, because the service states it in a form that cannot be read.',
    forCaller: 'It is delivered, without its ICCID, which could not be read. A person looks at it.',
    advice:
      'Compare the interface of the service with the contract, then `resolve` the case with `dismissed`. A later ' +
      'read of the eSIM stores its ICCID when it can be read.',
  },
  charged_above_limit: {
    meaning: 'The service charged more than the max_price that the caller set.',
    forCaller: 'It is bought, at more than its max_price. A person claims the difference.',
    advice: 'Compare the price list with the wallet and claim the difference; the purchase itself is complete.',
  },
  debited_twice: {
    meaning:
      'The wallet shows one debit too many for it: a second one for one purchase, or one after the end of a ' +
      'subscription. Money was lost.',
    forCaller: 'It was charged once too often. A person claims the money.',
    advice:
      'Claim the money from the service, then `resolve` the case with `dismissed`; its credit is matched when it ' +
      'comes.',
  },
  charge_not_refunded: {
    meaning: 'It did not succeed, and the wallet shows a debit without a credit for it.',
    forCaller: 'It did not succeed and was charged. A person claims the money.',
    advice: 'Ask the service for the credit, then `resolve` the case with `dismissed`.',
  },
  amount_differs: {
    meaning: 'A charge differs from the listed price, a debit from the charge, or a credit from its debit.',
    forCaller: 'An amount charged or refunded for it is not the expected one. A person compares them.',
    advice: 'Compare the wallet with the price, claim the difference, then `resolve` the case with `dismissed`.',
  },
  movement_missing: {
    meaning: 'Our journal has a movement for it that the wallet at the service does not show.',
    forCaller: 'A charge or refund of it is not confirmed. A person checks it.',
    advice: "Look for it in the service's console. It may appear later; otherwise `resolve` the case with `dismissed`.",
  },
  cancellation_refused: {
    meaning: 'The service does not cancel the subscription.',
    forCaller: 'The service does not cancel the subscription. A person asks for the reason.',
    advice:
      'Ask the service for the reason. `retry` requests the cancellation once more; with `dismissed` the ' +
      'subscription continues.',
  },
  refund_failed: {
    meaning: 'The eSIM is cancelled, and the service reports that its refund failed.',
    forCaller: 'The eSIM is cancelled, and its refund failed. A person asks for the money.',
    advice:
      'Ask the service for the money. `retry` looks it up again. Choose `refunded` if the money has arrived, and ' +
      '`dismissed` to continue without it.',
  },
  refund_missing: {
    meaning: 'The refund was not decided for a long time, or its money is not in the wallet.',
    forCaller: 'Its refund has not come for a long time. A person asks for it.',
    advice:
      'Ask the service for the money. `retry` looks it up again. Choose `refunded` if the money has arrived, and ' +
      '`dismissed` to continue without it.',
  },
  message_quarantined: {
    meaning:
      'A report of the service about it, or a request to start or wake its workflow, cannot be processed and was ' +
      'quarantined.',
    forCaller: 'A report about it could not be processed. A person looks at it.',
    advice:
      'Find the cause in the detail and correct it, then requeue the dead letter, or dismiss it; either closes ' +
      'the case.',
  },
  webhook_conflict: {
    meaning: 'Two different bodies arrived with one delivery id.',
    forCaller: 'Two reports about it contradict each other. A person looks at them.',
    advice: 'Check who can send to the webhook address, and whether the webhook secret has leaked.',
  },
} as const satisfies Record<string, { meaning: string; forCaller: string; advice: string }>;

export type AttentionReason = keyof typeof ATTENTION_REASONS;

export function isAttentionReason(name: unknown): name is AttentionReason {
  return typeof name === 'string' && Object.hasOwn(ATTENTION_REASONS, name);
}

/** Such a case stays open when the work continues. */
export const JUDGED_BY_PERSONS = [
  'contradiction',
  'iccid_unreadable',
  'charged_above_limit',
  'debited_twice',
  'charge_not_refunded',
  'amount_differs',
  'movement_missing',
  'message_quarantined',
] as const satisfies readonly AttentionReason[];
