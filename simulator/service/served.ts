import type { Dialect } from '#simulator/behaviour/dialect.ts';
import type { Environment } from '#simulator/environment.ts';
import { ENDPOINTS, type EndpointContract, type EndpointName } from '#upstream/contract.ts';

export const endpointNames = Object.keys(ENDPOINTS) as [EndpointName, ...EndpointName[]];

/** False for calls that the dialect omits, and in production for calls of the sandbox. */
export function isServed(name: EndpointName, dialect: Dialect, environment: Environment): boolean {
  const { capability, sandboxOnly }: EndpointContract = ENDPOINTS[name];
  if (sandboxOnly === true && environment === 'production') return false;
  return capability === undefined || switchOf(capability, dialect);
}

/** False for logins, and for calls that the dialect serves without a token. */
export function needsToken(name: EndpointName, dialect: Dialect): boolean {
  const { withoutToken }: EndpointContract = ENDPOINTS[name];
  return name !== 'login' && (withoutToken !== true || !dialect.public_without_token);
}

function switchOf(capability: NonNullable<EndpointContract['capability']>, dialect: Dialect): boolean {
  // `key_replay` is not a call.
  return capability === 'key_replay' || dialect[`has_${capability}`];
}
