/** Orders and faults from a seed, so that a failed run can be repeated: `TEST_SEED=7 vitest run …`. */
import type { OrderDesk } from '#test/support/work/order-desk.ts';

const DEFAULT_SEED = 20_300_131;

/** Pseudo-random numbers from a seed (mulberry32). */
export class Seeded {
  readonly seed: number;
  #state: number;

  constructor(seed: number = Number(process.env['TEST_SEED'] ?? DEFAULT_SEED)) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.between(0, items.length - 1)] ?? items[0];
  }
}

// Mostly packages that are sold. 9002 and 9003 always fail and are paid back.
const PACKAGES = [1001, 1002, 1005, 1012, 1029, 2001, 9001, 9001, 9001, 9002, 9003] as const;

/** The orders of the workload, in the form of the API. */
export function plannedOrders(seeded: Seeded, count: number) {
  return Array.from({ length: count }, () => ({
    packageId: seeded.pick(PACKAGES),
    more: seeded.next() < 0.3 ? { device_imei: String(seeded.between(10 ** 14, 10 ** 15 - 1)) } : {},
  }));
}

/** Injects each fault once, at a request or webhook that the seed chooses. */
export async function injectFaults(desk: OrderDesk, seeded: Seeded): Promise<void> {
  const { simulator } = desk;
  for (const fault of [
    { kind: 'accepted_but_answer_lost' },
    { kind: 'server_error', after_work: true },
    { kind: 'connection_reset' },
    { kind: 'truncated_body' },
    { kind: 'rate_limited', retry_after: 1 },
    { kind: 'latency', ms: 1_200, at: 'answer' },
  ] as const) {
    await simulator.onRequest('createOrder', fault, { nth: seeded.between(1, 12) });
  }
  for (const fault of [
    { kind: 'lost' },
    { kind: 'late', ms: 1_500 },
    { kind: 'twice' },
    { kind: 'out_of_order', ms: 2_000 },
    { kind: 'forged' },
    { kind: 'stale_timestamp' },
  ] as const) {
    await simulator.onWebhook(undefined, fault, { nth: seeded.between(1, 8) });
  }
}

/** @returns the faults as lines for the log, and those that did not fire. */
export async function faultTrace(desk: OrderDesk): Promise<{ lines: string[]; unfired: string[] }> {
  const faults = await desk.simulator.faults();
  return {
    lines: faults.map(({ fault, hits, fired }) => `${fault.kind}: fired ${fired} times in ${hits} hits`),
    unfired: faults.filter(({ fired }) => fired === 0).map(({ fault }) => fault.kind),
  };
}
