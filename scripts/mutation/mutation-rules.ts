/** A rule that decides about money, with the tests that must detect changes of it. */
export interface MutatedRule {
  /** The file to change. */
  readonly file: string;
  /** Only these tests run: a rule must not depend on tests that detect a change by accident. */
  readonly tests: readonly string[];
}

export const MUTATED_RULES: readonly MutatedRule[] = [
  {
    file: 'platform/crypto/webhook-signatures.ts',
    tests: ['test/unit/crypto/webhook-signature.test.ts', 'test/property/edges/signature.test.ts'],
  },
  { file: 'domain/work/attempt-lifecycle.ts', tests: ['test/unit/domain/work/attempt-lifecycle.test.ts'] },
  { file: 'domain/gate/circuit.ts', tests: ['test/property/domain/circuit.test.ts'] },
  {
    file: 'domain/work/failure.ts',
    tests: ['test/unit/domain/purchase/purchase-decision.test.ts', 'test/unit/domain/work/failure.test.ts'],
  },
  { file: 'domain/work/hold-reasons.ts', tests: ['test/unit/domain/purchase/purchase-decision.test.ts'] },
  { file: 'domain/work/lifecycle.ts', tests: ['test/unit/domain/work/lifecycle.test.ts'] },
  { file: 'domain/work/transitions.ts', tests: ['test/unit/domain/work/lifecycle.test.ts'] },
  { file: 'domain/money/money.ts', tests: ['test/property/domain/money.test.ts'] },
  { file: 'domain/relay/observation.ts', tests: ['test/unit/domain/relay/observation.test.ts'] },
  {
    file: 'domain/operator/operator-actions.ts',
    tests: [
      'test/unit/domain/operator/operator-actions.test.ts',
      'test/unit/domain/operator/operator-verdicts.test.ts',
      'test/property/domain/operator-actions.test.ts',
    ],
  },
  { file: 'domain/purchase/price-limit.ts', tests: ['test/property/domain/price-limit.test.ts'] },
  {
    file: 'domain/purchase/purchase-decision.ts',
    tests: ['test/unit/domain/purchase/purchase-decision.test.ts', 'test/property/domain/purchase-decision.test.ts'],
  },
  { file: 'domain/gate/purchase-gate.ts', tests: ['test/property/domain/purchase-gate.test.ts'] },
  {
    file: 'domain/money/books.ts',
    tests: [
      'test/unit/domain/money/reconciliation-causes.test.ts',
      'test/unit/domain/money/reconciliation-debits-credits.test.ts',
      'test/unit/domain/money/reconciliation-journal.test.ts',
      'test/property/domain/reconciliation.test.ts',
    ],
  },
  {
    file: 'domain/money/reconciliation.ts',
    tests: [
      'test/unit/domain/money/reconciliation-causes.test.ts',
      'test/unit/domain/money/reconciliation-debits-credits.test.ts',
      'test/unit/domain/money/reconciliation-journal.test.ts',
      'test/property/domain/reconciliation.test.ts',
    ],
  },
  { file: 'domain/cancellation/refund.ts', tests: ['test/property/domain/refund.test.ts'] },
  { file: 'domain/cancellation/refund-conditions.ts', tests: ['test/property/domain/refund-conditions.test.ts'] },
  {
    file: 'domain/cancellation/refund-lifecycle.ts',
    tests: ['test/unit/domain/cancellation/refund-lifecycle.test.ts'],
  },
  {
    file: 'domain/relay/relay-decision.ts',
    tests: [
      'test/unit/domain/relay/inbox-decision.test.ts',
      'test/unit/domain/relay/poll-interval.test.ts',
      'test/unit/domain/relay/relay-failure.test.ts',
      'test/unit/domain/relay/start-decision.test.ts',
    ],
  },
  { file: 'domain/purchase/restored-records.ts', tests: ['test/unit/domain/purchase/restored-records.test.ts'] },
  {
    file: 'domain/retry/retry-rules.ts',
    tests: ['test/unit/domain/retry/retry-rules.test.ts', 'test/property/domain/retry-rules.test.ts'],
  },
  { file: 'domain/purchase/send-claim.ts', tests: ['test/unit/domain/purchase/send-claim.test.ts'] },
  { file: 'domain/relay/sweep-decision.ts', tests: ['test/unit/domain/relay/sweep-decision.test.ts'] },
  {
    file: 'upstream/client/error-mapping.ts',
    tests: [
      'test/unit/upstream/error-mapping-classes.test.ts',
      'test/unit/upstream/error-mapping-details.test.ts',
      'test/property/edges/upstream-mapping.test.ts',
    ],
  },
];

/** Minimum share of changes that the tests of each rule must detect, in percent. */
export const LEAST_SCORE = 90;
