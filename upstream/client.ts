import { createCalls, type ServiceClientOptions } from '#upstream/client/calls.ts';
import { esimCalls, type EsimCalls } from '#upstream/client/esims.ts';
import { orderCalls, type OrderCalls } from '#upstream/client/orders.ts';
import { interfaceCalls, type InterfaceCalls } from '#upstream/client/service.ts';
import { vpnCalls, type VpnCalls } from '#upstream/client/vpn.ts';

export type { Listing, OptionalResult, ServiceClientOptions, Unsupported } from '#upstream/client/calls.ts';

/**
 * The calls of the service. No call throws: each resolves to a success or to a member of the failure catalogue. Each
 * call has one deadline, which covers all pages of a list. The client repeats only a request that was answered with
 * 401: once, with the same bytes and a new token.
 */
export interface ServiceClient extends OrderCalls, EsimCalls, VpnCalls, InterfaceCalls {}

/** Creates the client of the service. Its session and connections are shared by all calls. */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const calls = createCalls(options);
  return { ...orderCalls(calls), ...esimCalls(calls), ...vpnCalls(calls), ...interfaceCalls(calls) };
}
