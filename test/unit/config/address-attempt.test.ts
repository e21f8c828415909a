import { getDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { expect, it } from 'vitest';
import { ADDRESS_ATTEMPT_MS } from '#config/environment.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';

it('each address of a name has seconds to answer, not the 250 ms of Node, and a second one is tried in time', () => {
  expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBe(ADDRESS_ATTEMPT_MS);
  expect(ADDRESS_ATTEMPT_MS).toBeGreaterThanOrEqual(2_000);
  const { purchase, outbound } = DEFAULT_POLICY;
  expect(2 * ADDRESS_ATTEMPT_MS).toBeLessThan(Math.min(purchase.sendDeadlineMs, outbound.sendDeadlineMs));
});
