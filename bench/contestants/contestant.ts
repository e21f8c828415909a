import type { Processes } from '#bench/counters/processes.ts';

/** One that carries out whole orders: this version of the product, another one, or a peer. */
export interface Contestant {
  readonly id: 'ours' | 'before' | 'traced_all' | 'traced_tenth' | 'forgets' | 'dbos' | 'restate';
  /** What it is, for the results. */
  readonly measured: string;
  /** `POST {apiUrl}/v1/orders` accepts an order. */
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly databaseUrl: string;
  /** The simulator that it buys from; it has one of its own, with the same settings as the others'. */
  readonly simulatorUrl: string;
  /** Temporal namespace of its workflows; undefined when it has another engine. */
  readonly namespace: string | undefined;
  /** By all scenarios so far. */
  ordersPlaced: number;
  /** Its own processes, without the shared servers. */
  processes(): Processes;
}
