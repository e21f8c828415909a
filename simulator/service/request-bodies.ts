import * as z from 'zod';
import type { Environment } from '#simulator/environment.ts';
import {
  ENDPOINTS,
  loginRequest,
  orderRequest,
  simulationRequest,
  topupRequest,
  vpnOrderRequest,
  type EndpointContract,
  type EndpointName,
} from '#upstream/contract.ts';

/** Strict versions of the contract's bodies: the simulator refuses unknown fields. */
export const orderBody = orderRequest
  .extend({ external_order_id: notBlank(orderRequest.shape.external_order_id) })
  .strict();
export const topupBody = topupRequest.strict();
export const vpnOrderBody = vpnOrderRequest
  .extend({
    external_subscription_id: notBlank(vpnOrderRequest.shape.external_subscription_id),
    customer_reference: notBlank(vpnOrderRequest.shape.customer_reference),
  })
  .strict();
export const simulationBody = simulationRequest.strict();

/** For a POST without a body: empty, or an empty object. */
export const noBody = z.strictObject({});

// The specification allows expires_in_days on production login only.
const loginBodies = {
  production: loginRequest.strict(),
  sandbox: loginRequest.omit({ expires_in_days: true }).strict(),
} as const;

/** The schema of the login body in an environment. */
export function loginBody(environment: Environment): (typeof loginBodies)[Environment] {
  return loginBodies[environment];
}

const BODIES: Readonly<Partial<Record<EndpointName, z.ZodType>>> = {
  createOrder: orderBody,
  createTopup: topupBody,
  createVpnOrder: vpnOrderBody,
  simulateEsim: simulationBody,
};

/** The schema of the body of a call; undefined when it has none. */
export function requestBody(name: EndpointName, environment: Environment): z.ZodType | undefined {
  const { body }: EndpointContract = ENDPOINTS[name];
  return name === 'login' ? loginBody(environment) : (BODIES[name] ?? body);
}

function notBlank(reference: z.ZodString): z.ZodString {
  return reference.refine((text) => text.trim() !== '', 'must not be blank');
}
