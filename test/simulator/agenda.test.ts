import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Agenda, type DueSource } from '#simulator/clock.ts';

/** Work at given times. Each item takes a millisecond of the clock. */
class Planned implements DueSource {
  readonly done: number[] = [];
  #due: readonly number[];
  readonly #passTime: () => void;

  constructor(due: readonly number[], passTime: () => void) {
    this.#due = due;
    this.#passTime = passTime;
  }

  nextDue(now: number): number | undefined {
    this.#passTime();
    const later = this.#due.filter((time) => time > now);
    return later.length === 0 ? undefined : Math.min(...later);
  }

  runDue(now: number): void {
    this.#passTime();
    this.done.push(...this.#due.filter((time) => time <= now));
    this.#due = this.#due.filter((time) => time > now);
  }
}

describe('the agenda', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('runs all due work once, including work that becomes due during the run', async () => {
    let drift = 0;
    const now = (): number => Date.now() + drift;
    const start = now();
    const due = Array.from({ length: 50 }, (_, index) => start + index);
    const planned = new Planned(due, () => (drift += 1));
    const agenda = new Agenda(now, () => undefined);
    agenda.add(planned);
    agenda.wake();
    await vi.advanceTimersByTimeAsync(200);
    expect(planned.done).toEqual(due);
    agenda.stop();
  });

  it('reports failed work, runs the other work, and continues', async () => {
    const errors: unknown[] = [];
    const agenda = new Agenda(Date.now, (error) => errors.push(error));
    const planned = new Planned([Date.now() + 10], () => undefined);
    const failure = new Error('broken');
    agenda.add({
      nextDue: () => undefined,
      runDue: () => {
        throw failure;
      },
    });
    agenda.add(planned);
    agenda.wake();
    await vi.advanceTimersByTimeAsync(3_500);
    expect(planned.done).toHaveLength(1);
    // At once, then once a second.
    expect(errors).toEqual([failure, failure, failure, failure]);
    agenda.stop();
  });
});
