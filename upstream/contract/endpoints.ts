/** All calls of the interface, by name. */
import type { EndpointContract } from '#upstream/contract/endpoint.ts';
import { ESIM_ENDPOINTS } from '#upstream/contract/esim-endpoints.ts';
import { ORDER_ENDPOINTS } from '#upstream/contract/order-endpoints.ts';
import { SERVICE_ENDPOINTS } from '#upstream/contract/service-endpoints.ts';
import { VPN_ENDPOINTS } from '#upstream/contract/vpn-endpoints.ts';

/** The calls of the client and of the simulator. A call added here does not compile until the simulator serves it. */
export const ENDPOINTS = {
  ...ORDER_ENDPOINTS,
  ...ESIM_ENDPOINTS,
  ...VPN_ENDPOINTS,
  ...SERVICE_ENDPOINTS,
} as const satisfies Record<string, EndpointContract>;
export type EndpointName = keyof typeof ENDPOINTS;
