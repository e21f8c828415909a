import { duration } from '#cli/doctor/duration.ts';
import { type Finding, ok, warning } from '#cli/doctor/finding.ts';
import type { Records } from '#cli/doctor/installation/records.ts';
import type { ServiceConfig } from '#config/config.ts';
import { judgedProfile, type StoredCapabilityProfile } from '#db/service/capability-profiles.ts';
import { capabilities, permissions } from '#domain/service/capability-profile.ts';

/**
 * Compares the configured capabilities of the service with the measured ones.
 *
 * @param records undefined when the database cannot be read; then only the configuration is judged.
 * @param now epoch milliseconds.
 */
export function checkCapabilities(
  service: ServiceConfig,
  records: Pick<Records, 'capabilityProfile'> | undefined,
  now: number,
): Finding {
  const off = capabilities.filter((name) => !service.capabilities[name]);
  const configured = off.length === 0 ? `all ${capabilities.length} are on` : `off: ${off.join(', ')}`;
  const profile = records?.capabilityProfile;
  const sends = describeSends(service, records);
  const measured = records === undefined ? 'the measured profile cannot be read' : describeProfile(profile, now);
  const fact = `${configured}; ${sends}; ${measured}`;
  const advice = adviceFor(service, records);
  return advice === undefined ? ok(fact) : warning(fact, advice);
}

const SENT_AGAIN = 'a purchase without an answer is sent again with its key';
const SENT_ONCE = 'nothing is sent twice, so a purchase without an answer is looked up or waits for an operator';

function describeSends(service: ServiceConfig, records: Pick<Records, 'capabilityProfile'> | undefined): string {
  if (!service.resendAllowed) return SENT_ONCE;
  if (records === undefined) {
    return service.mode === 'sandbox'
      ? SENT_AGAIN
      : `${SENT_AGAIN} if the capability profile is confirmed and allows it`;
  }
  const { capabilityProfile: profile } = records;
  return permissions(service, profile && judgedProfile(profile), service.mode).resends.allowed ? SENT_AGAIN : SENT_ONCE;
}

function describeProfile(profile: StoredCapabilityProfile | undefined, now: number): string {
  if (profile === undefined) return 'never measured';
  const { confirmation } = profile;
  const age = duration(Math.max(0, now - profile.measuredAt.getTime()));
  return `measured ${age} ago, ${confirmation === undefined ? 'not confirmed' : `confirmed by ${confirmation.by}`}`;
}

function adviceFor(
  service: ServiceConfig,
  records: Pick<Records, 'capabilityProfile'> | undefined,
): string | undefined {
  const findings = records?.capabilityProfile?.findings ?? {};
  const missing = capabilities.filter((name) => service.capabilities[name] && findings[name] === false);
  if (missing.length > 0) {
    const all = capabilities.filter((name) => !service.capabilities[name] || findings[name] === false);
    return `The service was found without ${missing.join(', ')}: set SERVICE_MISSING_CAPABILITIES=${all.join(',')}.`;
  }
  // An operator has decided to switch key_replay off, so no profile is needed for it.
  if (service.mode === 'sandbox' || !service.capabilities.key_replay) return undefined;
  if (records === undefined)
    return 'Fix the failure of the database: it stores the profile that decides about resends.';
  if (records.capabilityProfile === undefined) {
    return (
      'Run `npx reseller sandbox tour --json > tour.json` against the sandbox, then `npx reseller ' +
      'capabilities import tour.json` and `confirm` here.'
    );
  }
  if (records.capabilityProfile.confirmation === undefined) {
    return 'Read `npx reseller capabilities show`, then confirm it with `npx reseller capabilities confirm`.';
  }
  return undefined;
}
