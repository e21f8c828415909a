/** The rules that decide about money, each with the tests that must notice when it is changed. */
export interface MutatedRule {
  /** The file that is changed. */
  readonly file: string;
  /** Nothing but these tests: a rule that is only guarded by accident has no guard. */
  readonly tests: readonly string[];
}

export const MUTATED_RULES: readonly MutatedRule[] = [
  {
    file: 'crypto/webhook-signature.ts',
    tests: ['test/unit/crypto-webhook-signature.test.ts', 'test/property/signature.test.ts'],
  },
  { file: 'domain/attempt-lifecycle.ts', tests: ['test/unit/domain-attempt-lifecycle.test.ts'] },
  { file: 'domain/circuit.ts', tests: ['test/property/circuit.test.ts'] },
  { file: 'domain/failure.ts', tests: ['test/unit/domain-purchase-decision.test.ts'] },
  { file: 'domain/inbox-decision.ts', tests: ['test/unit/domain-inbox-decision.test.ts'] },
  { file: 'domain/lifecycle.ts', tests: ['test/unit/domain-lifecycle.test.ts'] },
  { file: 'domain/money.ts', tests: ['test/property/money.test.ts'] },
  { file: 'domain/observation.ts', tests: ['test/unit/domain-observation.test.ts'] },
  {
    file: 'domain/operator-actions.ts',
    tests: ['test/unit/domain-operator-actions.test.ts', 'test/property/operator-actions.test.ts'],
  },
  { file: 'domain/price-limit.ts', tests: ['test/property/price-limit.test.ts'] },
  {
    file: 'domain/purchase-decision.ts',
    tests: ['test/unit/domain-purchase-decision.test.ts', 'test/property/purchase-decision.test.ts'],
  },
  { file: 'domain/purchase-gate.ts', tests: ['test/property/purchase-gate.test.ts'] },
  {
    file: 'domain/reconciliation.ts',
    tests: ['test/unit/domain-reconciliation.test.ts', 'test/property/reconciliation.test.ts'],
  },
  { file: 'domain/refund.ts', tests: ['test/property/refund.test.ts'] },
  { file: 'domain/refund-conditions.ts', tests: ['test/property/refund-conditions.test.ts'] },
  { file: 'domain/refund-lifecycle.ts', tests: ['test/unit/domain-refund-lifecycle.test.ts'] },
  { file: 'domain/relay-failure.ts', tests: ['test/unit/domain-relay-failure.test.ts'] },
  { file: 'domain/restored-records.ts', tests: ['test/unit/domain-restored-records.test.ts'] },
  {
    file: 'domain/retry-rules.ts',
    tests: ['test/unit/domain-retry-rules.test.ts', 'test/property/retry-rules.test.ts'],
  },
  { file: 'domain/send-claim.ts', tests: ['test/unit/domain-send-claim.test.ts'] },
  { file: 'domain/start-decision.ts', tests: ['test/unit/domain-start-decision.test.ts'] },
  { file: 'domain/sweep-decision.ts', tests: ['test/unit/domain-sweep-decision.test.ts'] },
  {
    file: 'upstream/error-mapping.ts',
    tests: ['test/unit/upstream-error-mapping.test.ts', 'test/property/upstream-mapping.test.ts'],
  },
];

/** Of each rule, at least this share of the changes must be noticed, in percent. */
export const LEAST_SCORE = 90;
