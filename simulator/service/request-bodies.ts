import type * as z from 'zod';
import { ENDPOINTS, loginRequest, orderRequest, type EndpointContract, type EndpointName } from '#upstream/contract.ts';
import type { Environment } from '#simulator/environment.ts';

/** A strict service refuses fields that it does not know; the contract itself says nothing of them. */
export const orderBody = orderRequest.strict();

// The specification has expires_in_days on production login only.
const loginBodies = {
  production: loginRequest.strict(),
  sandbox: loginRequest.omit({ expires_in_days: true }).strict(),
} as const;

export function loginBody(environment: Environment): (typeof loginBodies)[Environment] {
  return loginBodies[environment];
}

/** The body that a call takes, as it is judged; undefined when it takes none. */
export function requestBody(name: EndpointName, environment: Environment): z.ZodType | undefined {
  const endpoint: EndpointContract = ENDPOINTS[name];
  if (name === 'login') return loginBody(environment);
  if (name === 'createOrder') return orderBody;
  return endpoint.body;
}
