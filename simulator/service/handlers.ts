import type { Handlers } from '#simulator/service/call.ts';
import { ESIM_HANDLERS } from '#simulator/service/handlers/esims.ts';
import { INTERFACE_HANDLERS } from '#simulator/service/handlers/interface.ts';
import { ORDER_HANDLERS } from '#simulator/service/handlers/orders.ts';
import { VPN_HANDLERS } from '#simulator/service/handlers/vpn.ts';
import type { EndpointName } from '#upstream/contract.ts';

/** One handler for each endpoint of the contract. A new endpoint does not compile until it has a handler here. */
export const HANDLERS: Handlers<EndpointName> = {
  ...ORDER_HANDLERS,
  ...ESIM_HANDLERS,
  ...VPN_HANDLERS,
  ...INTERFACE_HANDLERS,
};
