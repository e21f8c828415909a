/**
 * All wire shapes of the service, each defined once. The specification leaves most responses "not shown", so each part
 * has a mark (stated or assumed) and a reason.
 *
 * Answers are read tolerantly (`upstream/reading/`): unknown fields are ignored, an unusable optional field counts as
 * absent, a missing needed field is contract drift. `variants.ts` and `paging.ts` define the other forms that are
 * understood.
 */
import type { EndpointContract } from '#upstream/contract/endpoint.ts';
import { ESIM_ENDPOINTS } from '#upstream/contract/esims.ts';
import { LOGIN_ENDPOINTS } from '#upstream/contract/login.ts';
import { ORDER_ENDPOINTS } from '#upstream/contract/orders.ts';
import { SERVICE_ENDPOINTS } from '#upstream/contract/service.ts';
import { VPN_ENDPOINTS } from '#upstream/contract/vpn.ts';

export {
  BASE_PATH,
  DEFAULT_HEADER_PREFIX,
  SANDBOX_SUFFIX,
  WEBHOOK_TOLERANCE_SECONDS,
} from '#domain/service/service-address.ts';
export * from '#upstream/contract/endpoint.ts';
export * from '#upstream/contract/errors.ts';
export * from '#upstream/contract/esims.ts';
export * from '#upstream/contract/events.ts';
export { NEEDED_FOR, NEEDED_UNLESS, type Misstating } from '#upstream/contract/fields.ts';
export * from '#upstream/contract/login.ts';
export * from '#upstream/contract/orders.ts';
export * from '#upstream/contract/service.ts';
export {
  AMOUNT_FIELDS,
  listWrappersOf,
  MOST_WRAPPERS,
  statedUnit,
  wrappersOf,
  type RecordName,
} from '#upstream/contract/variants.ts';
export * from '#upstream/contract/vpn.ts';

/** A call added here does not compile until the simulator serves it. */
export const ENDPOINTS = {
  ...LOGIN_ENDPOINTS,
  ...ORDER_ENDPOINTS,
  ...ESIM_ENDPOINTS,
  ...VPN_ENDPOINTS,
  ...SERVICE_ENDPOINTS,
} as const satisfies Record<string, EndpointContract>;
export type EndpointName = keyof typeof ENDPOINTS;
