import type { Records } from '#cli/doctor/checks/database.ts';
import { type Finding, failure, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import { withoutStop } from '#cli/service/own-session.ts';
import { duration, typed } from '#cli/terminal/output.ts';
import type { ServiceConfig } from '#config/config.ts';
import { type StoredCapabilityProfile, judgedProfile } from '#db/service/capability-profiles.ts';
import { FIRST_PURCHASE_CHECK_ADVICE, nounOf } from '#domain/gate/first-purchase-check.ts';
import { type Capabilities, capabilities, permissions } from '#domain/service/capability-profile.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';
import type { FirstPurchaseCheckState, PauseRow } from '#fulfilment/gate/pauses.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { type ContractReport, checkContract as compare } from '#upstream/contract-check.ts';

const FILE = 'openapi.json';
const BY_HAND = `Get the OpenAPI document by hand, as ${FILE}, and run ${typed(`contract check ${FILE}`, undefined)}.`;
const MOST_NAMED = 3;

export async function checkContract(
  client: Pick<ServiceClient, 'getOpenApi'>,
  capabilities: Capabilities,
  { headerPrefix, data }: { readonly headerPrefix?: string | undefined; readonly data?: string | undefined } = {},
): Promise<Finding> {
  const answer = await client.getOpenApi();
  if (answer.ok) return judge(compare(answer.value, capabilities, { headerPrefix }), data);
  if (answer.kind === 'unsupported')
    return warning('SERVICE_MISSING_CAPABILITIES switches the download of the OpenAPI document off', BY_HAND);
  switch (answer.failure) {
    case 'not_sent':
    case 'unauthorized':
    case 'not_approved':
    case 'timeout':
    case 'connection_lost':
    case 'server_error':
    case 'rate_limited':
      return notChecked(`the OpenAPI document could not be downloaded (${withoutStop(answer.detail)})`);
    default:
      return warning(`the service offers no OpenAPI document. ${withoutStop(answer.detail)}`, BY_HAND);
  }
}

function judge({ compatible, findings, calls, events, switchOff }: ContractReport, data: string | undefined): Finding {
  const looked = calls.filter(({ status }) => status !== 'switched_off');
  if (compatible) return ok(`${looked.length} calls have everything that we need`);
  const breaks = ({ severity }: { readonly severity: string }) => severity === 'breaking';
  const isBreaking = (part: Pick<ContractReport, 'findings'>) => part.findings.some(breaks);
  const names = [
    ...new Set(findings.filter(breaks).map(({ part }) => part)),
    ...looked.filter(isBreaking).map(({ method, path }) => `${method} ${path}`),
    ...events.filter(isBreaking).map(({ event }) => `event ${event}`),
  ];
  const rest = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  const fact = `differs from what we need: ${names.slice(0, MOST_NAMED).join(', ')}${rest}`;
  const details = `${typed(`contract check ${FILE} --download`, data)} shows each difference.`;
  if (switchOff.length === 0) return failure(fact, `Buy nothing before the cause is known. ${details}`);
  return failure(fact, `SERVICE_MISSING_CAPABILITIES=${switchOff.join(',')} would suffice. ${details}`);
}

/** @param records undefined when the database cannot be read; then only the configuration is judged. */
export function checkCapabilities(
  service: ServiceConfig,
  records: Pick<Records, 'capabilityProfile'> | undefined,
  now: number,
): Finding {
  const off = capabilities.filter((name) => !service.capabilities[name]);
  const configured = off.length === 0 ? `all ${capabilities.length} are on` : `off: ${off.join(', ')}`;
  const profile = records?.capabilityProfile;
  const measured = records === undefined ? 'the measured profile cannot be read' : describeProfile(profile, now);
  const fact = `${configured}; ${describeSends(service, records)}; ${measured}`;
  const advice = adviceFor(service, records);
  return advice === undefined ? ok(fact) : warning(fact, advice);
}

const SENT_AGAIN = 'a purchase without an answer is sent again with its key';
const SENT_ONCE = 'nothing is sent twice, so a purchase without an answer is looked up or waits for an operator';

function describeSends(service: ServiceConfig, records: Pick<Records, 'capabilityProfile'> | undefined): string {
  if (!service.resendAllowed) return SENT_ONCE;
  if (records === undefined && service.mode === 'sandbox') return SENT_AGAIN;
  if (records === undefined) return `${SENT_AGAIN} if the capability profile is confirmed and allows it`;
  const { capabilityProfile: profile } = records;
  return permissions(service, profile && judgedProfile(profile), service.mode).resends.allowed ? SENT_AGAIN : SENT_ONCE;
}

function describeProfile(profile: StoredCapabilityProfile | undefined, now: number): string {
  if (profile === undefined) return 'never measured';
  const { confirmation } = profile;
  const age = duration(Math.max(0, now - profile.measuredAt.getTime()));
  return `measured ${age} ago, ${confirmation === undefined ? 'not confirmed' : `confirmed by ${confirmation.by}`}`;
}

function adviceFor(service: ServiceConfig, records: Pick<Records, 'capabilityProfile'> | undefined) {
  const findings = records?.capabilityProfile?.findings ?? {};
  const missing = capabilities.filter((name) => service.capabilities[name] && findings[name] === false);
  if (missing.length > 0) {
    const all = capabilities.filter((name) => !service.capabilities[name] || findings[name] === false);
    return `The service was found without ${missing.join(', ')}: set SERVICE_MISSING_CAPABILITIES=${all.join(',')}.`;
  }
  // An operator switched key_replay off, so no profile is needed for it.
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

/** Purchases in production wait until the shapes were seen. */
export function checkFirstPurchaseCheck(
  { mode }: Pick<ServiceConfig, 'mode'>,
  records: Pick<Records, 'firstPurchaseCheck'> | undefined,
): Finding {
  if (mode === 'sandbox') return ok('not needed in the sandbox');
  if (records === undefined) return notChecked('the records of it cannot be read');
  const states = [...records.firstPurchaseCheck];
  const detail = states.map(([kind, state]) => `${nounOf(kind)}: ${describeState(state)}`).join('; ');
  const of = (wanted: FirstPurchaseCheckState['kind']): PurchaseKind[] =>
    states.flatMap(([kind, state]) => (state.kind === wanted ? [kind] : []));
  if (of('held').length > 0) return failure(detail, FIRST_PURCHASE_CHECK_ADVICE);
  if (of('unknown').length > 0)
    return warning(detail, `The worker holds them at its start. ${FIRST_PURCHASE_CHECK_ADVICE}`);
  return ok(detail);
}

function describeState(state: FirstPurchaseCheckState): string {
  switch (state.kind) {
    case 'held':
      return describeHold(state.pause);
    case 'recorded':
      return `seen. ${state.evidence}`;
    case 'released':
      return `released by ${state.by} at ${state.at.toISOString()}: ${state.reason}`;
    case 'unknown':
      return 'not seen yet';
  }
}

/** The finding shows the advice once for all kinds. */
function describeHold({ id, pausedAt, reason }: PauseRow): string {
  return `held by ${id} since ${pausedAt.toISOString()}: ${reason.replace(FIRST_PURCHASE_CHECK_ADVICE, '').trim()}`;
}

export function checkDeliveries(records: Pick<Records, 'driftStops'> | undefined): Finding {
  if (records === undefined) return notChecked('the records of it cannot be read');
  const { driftStops } = records;
  if (driftStops.length === 0) return ok('no purchase is stopped for its delivery');
  const detail = driftStops.map(({ text }) => text).join(' ');
  return driftStops.some(({ isDrift }) => isDrift)
    ? failure(detail, 'Compare the interface of the service with the contract: see DriftStop in docs/runbook.md.')
    : warning(detail, 'Only a document has shown the answers of the service. No action: the first delivery decides.');
}
