import { capabilities } from '#domain/capabilities.ts';
import type { ServiceConfig } from '#config/config.ts';
import { type Finding, ok, warning } from '#cli/doctor/finding.ts';

/** What do we take the service to be able to do? */
export function checkCapabilities(service: ServiceConfig): Finding {
  const off = capabilities.filter((name) => !service.capabilities[name]);
  const profile = off.length === 0 ? `all ${capabilities.length} are on` : `off: ${off.join(', ')}`;
  if (service.resendAllowed) return ok(`${profile}; a purchase without an answer is sent again with its key`);
  const fact = `${profile}; nothing is sent twice, so a purchase without an answer is looked up or waits for an operator`;
  // Switched off is somebody's decision; not confirmed is none yet.
  if (!service.capabilities.key_replay) return ok(fact);
  return warning(fact, 'Set SERVICE_KEY_REPLAY_CONFIRMED=true once you know that the service replays keys.');
}
