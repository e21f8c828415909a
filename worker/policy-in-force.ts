import { effectivePolicy } from '#domain/capability-profile.ts';
import type { Policy } from '#domain/policy.ts';
import type { ServiceMode } from '#domain/service-address.ts';
import { judgedProfile, newestCapabilityProfile } from '#db/capability-profiles.ts';
import type { Database } from '#db/database.ts';

/**
 * The policy that this worker gives its workflows: the configured one, cut down to what the service was found able to
 * do. Capabilities are measured in the sandbox only, so its profile counts in both modes.
 *
 * @throws DatabaseUnavailableError
 */
export async function policyInForce(database: Database, configured: Policy, mode: ServiceMode): Promise<Policy> {
  const profile = await database.run((db) => newestCapabilityProfile(db, 'sandbox'));
  return effectivePolicy(configured, profile && judgedProfile(profile), mode);
}
