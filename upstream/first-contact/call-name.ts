import type { Unsupported } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';
import { ENDPOINTS, type EndpointName } from '#upstream/contract.ts';

/** A call as people write it, such as `GET /packages`. */
export function callName(name: EndpointName): string {
  const { method, path } = ENDPOINTS[name];
  return `${method} ${path}`;
}

/** Why a call gave nothing, as a clause that begins with its name. */
export function failedCall(name: EndpointName, failure: ServiceFailure | Unsupported): string {
  if (failure.kind === 'unsupported') return `${callName(name)}: SERVICE_WITHOUT=${failure.capability} switches it off`;
  return `${callName(name)}: ${failure.detail.replace(/^The service /, 'it ').replace(/\.$/, '')}`;
}
