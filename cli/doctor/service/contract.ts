import { failure, type Finding, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import { withoutStop } from '#cli/doctor/service/login.ts';
import { typed } from '#cli/terminal/output.ts';
import type { Capabilities } from '#domain/service/capability-profile.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { checkContract as compare, type ContractReport } from '#upstream/contract-check.ts';

const FILE = 'openapi.json';
const BY_HAND = `Get the OpenAPI document by hand, as ${FILE}, and run ${typed(`contract check ${FILE}`, undefined)}.`;
const MOST_NAMED = 3;

/**
 * Compares the service's OpenAPI document with what we need.
 *
 * @param options.headerPrefix prefix of the webhook headers; undefined for the default.
 * @param options.data data folder of --data; advice repeats it in commands.
 */
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
