import { createCalls, type ServiceClientOptions } from '#upstream/client/calls.ts';
import { esimCalls, type EsimCalls } from '#upstream/client/esims.ts';
import { orderCalls, type OrderCalls } from '#upstream/client/orders.ts';
import { interfaceCalls, type InterfaceCalls } from '#upstream/client/service.ts';
import { vpnCalls, type VpnCalls } from '#upstream/client/vpn.ts';

export type { Listing, OptionalResult, ServiceClientOptions, Unsupported } from '#upstream/client/calls.ts';

/**
 * The calls of the service. None throws; each result is a success, or a member of the failure catalogue. Each call has
 * one deadline for everything in it, all pages of a list included. The only thing that is ever sent again by itself is
 * a request that was answered with 401: same bytes, other token, once.
 */
export interface ServiceClient extends OrderCalls, EsimCalls, VpnCalls, InterfaceCalls {}

export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const calls = createCalls(options);
  return { ...orderCalls(calls), ...esimCalls(calls), ...vpnCalls(calls), ...interfaceCalls(calls) };
}
