/** Removals for the statements about what the specification does not show. */
import type { Removal } from '#scripts/spec/removals/removal.ts';

export const GAPS: readonly Removal[] = [
  {
    id: 'gap.answers',
    removed: 'An answer that lacks what we need ends the call with an exception.',
    file: 'upstream/client/error-mapping.ts',
    find: 'return drift(reading.problem)',
    replace: 'throw new Error(reading.problem)',
    failed: [
      {
        file: 'test/property/edges/upstream-client.test.ts',
        title: 'gives a success or a known failure, and never throws',
      },
    ],
  },
  {
    id: 'gap.paths',
    removed: 'A call is made although it is switched off.',
    file: 'upstream/client/calls.ts',
    find: '!options.capabilities[capability]',
    replace: 'options.capabilities[capability] === undefined',
    failed: [
      {
        file: 'test/unit/upstream/client/client-reads.test.ts',
        title: 'gives a separate result without a request: %s',
      },
    ],
  },
  {
    id: 'gap.bounds',
    removed: 'A request that the contract refuses is sent anyway.',
    file: 'upstream/client/request-bytes.ts',
    find: 'if (result.success) return result.data;',
    replace: 'if (result !== undefined) return fields as z.output<Schema>;',
    failed: [
      {
        file: 'test/unit/upstream/request-bytes.test.ts',
        title: 'orderRequestBytes › names %s, and not its value, when the contract refuses it',
      },
      {
        file: 'test/unit/upstream/request-bytes.test.ts',
        title: 'topupRequestBytes › names %s, and not its value, when the contract refuses it',
      },
    ],
  },
  {
    id: 'gap.repeated-key',
    removed: 'A key in use counts as an invalid request.',
    file: 'upstream/client/error-mapping.ts',
    find: "'idempotency_key_in_use',",
    replace: '',
    failed: [
      {
        file: 'test/unit/upstream/error-mapping-classes.test.ts',
        title: 'for "known already" leads to a look-up with every status: %i',
      },
    ],
  },
  {
    id: 'gap.key-retention',
    removed: 'It is sent again after the window.',
    file: 'domain/purchase/purchase-decision.ts',
    find: 'mayResend && now + delayMs <= windowEnd(history, policy, now)',
    replace: 'mayResend',
    failed: [{ file: 'test/workflow/orders/order.test.ts', title: 'is never sent again after the window' }],
  },
  {
    id: 'gap.reference-unique',
    removed: 'A used reference counts as an invalid request.',
    file: 'upstream/client/error-mapping.ts',
    find: "'reference_exists',",
    replace: '',
    failed: [
      {
        file: 'test/unit/upstream/error-mapping-classes.test.ts',
        title: 'for "known already" leads to a look-up with every status: %i',
      },
    ],
  },
  {
    id: 'gap.sandbox-calls',
    removed: 'The capabilities to switch off are not named.',
    file: 'upstream/contract-check/check.ts',
    find: 'allCapabilities.filter((capability) => ofBroken.has(capability))',
    replace: 'allCapabilities.filter(() => ofBroken.size < 0)',
    failed: [{ file: 'test/unit/cli/contract.test.ts', title: 'lists missing and disabled capabilities' }],
  },
  {
    id: 'gap.token-end',
    removed: 'A token is renewed after its expiry, not before.',
    file: 'upstream/client/session.ts',
    find: 'RENEW_AT_SHARE = 0.8',
    replace: 'RENEW_AT_SHARE = 1',
    failed: [
      {
        file: 'test/unit/upstream/session-renewal.test.ts',
        title: 'starts after four fifths of the lifetime, and not earlier',
      },
    ],
  },
  {
    id: 'gap.events',
    removed: 'A contradictory order event is accepted.',
    file: 'upstream/mapping/event-data.ts',
    find: '(read.value.status ?? outcome) === outcome',
    replace: 'read.value.status !== null',
    failed: [{ file: 'test/unit/upstream/lifecycle-events.test.ts', title: '%s is quarantined when its' }],
  },
  {
    id: 'gap.redelivery',
    removed: 'The same delivery counts twice.',
    file: 'workflows/work/observation-queue.ts',
    find: 'this.#seen.has(name)',
    replace: 'this.#seen.size < 0',
    failed: [{ file: 'test/workflow/orders/order.test.ts', title: 'counts a repeated delivery' }],
  },
  {
    id: 'gap.errors',
    removed: '402 has no class in the catalogue.',
    file: 'upstream/client/error-mapping.ts',
    find: 'case 402:',
    replace: 'case 499:',
    failed: [{ file: 'test/unit/upstream/error-mapping-classes.test.ts', title: '%i with the code "%s" is' }],
  },
  {
    id: 'gap.rate-limits',
    removed: 'The shortest of several values is used.',
    file: 'domain/work/retry-after.ts',
    find: 'Math.max(MIN_MS, ...waits)',
    replace: 'Math.min(...waits)',
    failed: [{ file: 'test/unit/upstream/error-mapping-classes.test.ts', title: 'is the longest of several values' }],
  },
  {
    id: 'gap.transitions',
    removed: 'A purchase in progress may be reported as in progress again.',
    file: 'domain/relay/observation.ts',
    find: "processing: { processing: 'known', completed: 'advance'",
    replace: "processing: { processing: 'advance', completed: 'advance'",
    failed: [{ file: 'test/unit/domain/relay/observation.test.ts', title: 'equals the conditions of this file' }],
  },
  {
    id: 'gap.compatibility',
    removed: 'Orders with unknown fields are refused.',
    file: 'upstream/contract/resources.ts',
    find: 'serviceOrder = z.object(',
    replace: 'serviceOrder = z.strictObject(',
    failed: [{ file: 'test/unit/upstream/error-mapping-details.test.ts', title: 'is an answer with all needed' }],
  },
];
