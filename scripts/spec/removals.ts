/** Behaviour that was broken on purpose in a copy of the project, to see that the tests which name it fail. */
export interface Removal {
  /** Id of the statement whose row it checks. */
  readonly id: string;
  readonly removed: string;
  /** What was changed. */
  readonly file: string;
  /** Some of the tests that then failed; each names the statement. */
  readonly failed: readonly { readonly file: string; readonly title: string }[];
}

export const REMOVALS: readonly Removal[] = [
  {
    id: 'environments.approval',
    removed: 'Production sells without approval.',
    file: 'simulator/sales/keyed-operations.ts',
    failed: [
      {
        file: 'test/simulator/purchase.test.ts',
        title: 'the environments › production can be read but not bought from until it is approved',
      },
    ],
  },
  {
    id: 'field.login.expires_in_days',
    removed: 'The sandbox login sends it, too.',
    file: 'upstream/session.ts',
    failed: [
      {
        file: 'test/unit/upstream-session.test.ts',
        title: 'the login › in %s with a configured lifetime of %s days asks for %o',
      },
    ],
  },
  {
    id: 'header.authorization',
    removed: 'The token is sent without the word `Bearer`.',
    file: 'upstream/client/calls.ts',
    failed: [
      {
        file: 'test/unit/upstream-client-requests.test.ts',
        title: 'the request of each call › %s carries "Authorization: Bearer" where the endpoint is protected',
      },
    ],
  },
  {
    id: 'header.idempotency-key',
    removed: 'A top-up is sent without a key.',
    file: 'upstream/client/esims.ts',
    failed: [
      {
        file: 'test/unit/upstream-client-requests.test.ts',
        title: 'the request of each call › %s carries an Idempotency-Key only where the specification says so',
      },
    ],
  },
  {
    id: 'endpoint.topup-options',
    removed: 'The path has another spelling in the contract.',
    file: 'upstream/contract/esim-endpoints.ts',
    failed: [
      {
        file: 'test/simulator/topups.test.ts',
        title: 'top-up options › are the packages for the same places, limited for a limited package and unlimited for an unlimited one',
      },
      {
        file: 'test/unit/upstream-client-requests.test.ts',
        title: 'the request of each call › %s goes to its method, path and query',
      },
    ],
  },
  {
    id: 'record.esim.usage',
    removed: 'Usage that is missing is read as zero.',
    file: 'upstream/contract/resources.ts',
    failed: [
      {
        file: 'test/unit/upstream-client-esims.test.ts',
        title: 'an eSIM › has no usage when the service does not clearly say it of this eSIM: %j',
      },
    ],
  },
  {
    id: 'refund.condition.never-installed',
    removed: 'The condition always counts as met.',
    file: 'simulator/sales/refund-conditions.ts',
    failed: [
      {
        file: 'test/simulator/cancellations.test.ts',
        title: 'each of the five conditions › never installed: a profile on a phone goes to manual review',
      },
    ],
  },
  {
    id: 'event.refund.failed',
    removed: 'The kind is taken out of the contract.',
    file: 'upstream/contract/events.ts',
    failed: [
      {
        file: 'test/unit/upstream-lifecycle-events.test.ts',
        title: 'each event of the specification › %s says what happened to what',
      },
    ],
  },
  {
    id: 'signature.signed-string',
    removed: 'The full stop between timestamp and body is left out.',
    file: 'crypto/webhook-signature.ts',
    failed: [
      {
        file: 'test/unit/crypto-webhook-signature.test.ts',
        title: 'the published vectors › accepts $signature',
      },
    ],
  },
  {
    id: 'signature.constant-time',
    removed: 'The digests are compared with `equals`.',
    file: 'crypto/webhook-signature.ts',
    failed: [
      {
        file: 'test/unit/crypto-constant-time.test.ts',
        title: 'the comparison of signatures › is made in constant time with every secret, whichever matches: %s',
      },
      {
        file: 'test/unit/crypto-constant-time.test.ts',
        title: 'the comparison of signatures › is decided by nothing else',
      },
    ],
  },
  {
    id: 'limit.webhook-tolerance',
    removed: '301 seconds instead of 300.',
    file: 'domain/webhook-tolerance.ts',
    failed: [
      {
        file: 'test/unit/crypto-webhook-signature.test.ts',
        title: 'the timestamp › is refused %i seconds off the clock',
      },
    ],
  },
  {
    id: 'versioning.path',
    removed: 'Any base address is taken.',
    file: 'config/variables.ts',
    failed: [
      {
        file: 'test/unit/config-service.test.ts',
        title: 'SERVICE_BASE_URL › is refused with what it has to end with: %s',
      },
    ],
  },
  {
    id: 'gap.compatibility',
    removed: 'Orders with unknown fields are refused.',
    file: 'upstream/contract/resources.ts',
    failed: [
      {
        file: 'test/unit/upstream-error-mapping.test.ts',
        title: 'a success › is an answer that has what we need; what we do not know passes',
      },
    ],
  },
];
