import type { Unsupported } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';
import { ENDPOINTS, type EndpointName } from '#upstream/contract.ts';

/** Method and path of a call, such as `GET /packages`. */
export function callName(name: EndpointName): string {
  const { method, path } = ENDPOINTS[name];
  return `${method} ${path}`;
}

/** Why a call has no result, as a clause that begins with the call. */
export function failedCall(name: EndpointName, failure: ServiceFailure | Unsupported): string {
  if (failure.kind === 'unsupported')
    return `${callName(name)}: SERVICE_MISSING_CAPABILITIES=${failure.capability} switches it off`;
  return `${callName(name)}: ${failure.detail.replace(/^The service /, 'it ').replace(/\.$/, '')}`;
}
