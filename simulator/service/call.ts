import type { KeyedCall } from '#simulator/sales/keyed-operations.ts';
import type { Answer } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { EndpointName } from '#upstream/contract.ts';

/** A call after authorization. Its parts are not validated yet. */
interface ServiceCall extends KeyedCall {
  readonly query: Readonly<Record<string, string>>;
  /** The body as JSON; undefined when the call has none. */
  readonly json: unknown;
}

type Handler = (simulation: Simulation, call: ServiceCall) => Answer | Promise<Answer>;

/** Handlers by the names of their endpoints. */
export type Handlers<Name extends EndpointName> = Readonly<Record<Name, Handler>>;
