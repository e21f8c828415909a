import type { Executor } from '#db/connection/database.ts';
import { judgedProfile, newestCapabilityProfile } from '#db/service/capability-profiles.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { effectivePolicy } from '#domain/service/capability-profile.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';

/**
 * The policy in force at this moment: the configured one, cut down to what the service was found able to do. Workflows
 * get a copy when they begin; the activities that spend read it again. Capabilities are measured in the sandbox only,
 * so its profile counts in both modes.
 *
 * @throws DatabaseUnavailableError
 */
export async function policyInForce(db: Executor, configured: Policy, mode: ServiceMode): Promise<Policy> {
  const profile = await newestCapabilityProfile(db, 'sandbox');
  return effectivePolicy(configured, profile && judgedProfile(profile), mode);
}
