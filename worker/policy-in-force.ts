import type { Executor } from '#db/connection/database.ts';
import { judgedProfile, newestCapabilityProfile } from '#db/service/capability-profiles.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { effectivePolicy } from '#domain/service/capability-profile.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';

/**
 * The current policy: the configured one, restricted to the measured capabilities of the service. Workflows get a copy
 * when they start; activities that spend money read it again. Capabilities are measured in the sandbox only, so its
 * profile applies in both modes.
 *
 * @throws DatabaseUnavailableError
 */
export async function policyInForce(db: Executor, configured: Policy, mode: ServiceMode): Promise<Policy> {
  const profile = await newestCapabilityProfile(db, 'sandbox');
  return effectivePolicy(configured, profile && judgedProfile(profile), mode);
}
