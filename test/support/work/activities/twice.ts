/** Temporal may run an activity twice with the same input. Every activity must support that. */
import { expect } from 'vitest';
import { WORK_FINISHED } from '#workflows/messages.ts';

export interface ActivityCall {
  readonly name: string;
  /** The input as JSON. */
  readonly input: string;
}

/** Records each call of the activities. @param calls gets the calls. @param before runs before each call. */
export function recorded<Activities extends object>(
  activities: Activities,
  calls: ActivityCall[],
  before: () => Promise<void>,
): Activities {
  const noted = Object.entries(activities).map(([name, activity]) => [
    name,
    async (input: never) => {
      calls.push({ name, input: JSON.stringify(input ?? null) });
      await before();
      return await (activity as (input: never) => Promise<unknown>)(input);
    },
  ]);
  // Only wraps each activity. Names and signatures stay.
  return Object.fromEntries(noted) as Activities;
}

interface TwiceOptions {
  /** The calls that {@link recorded} has recorded so far. */
  readonly calls: () => readonly ActivityCall[];
  /** All state that the activities may change: in our database, and at the servers that they call. */
  readonly state: () => Promise<unknown>;
}

export function twiceOver({ calls, state }: TwiceOptions) {
  const expectTwoCalls = (name: string, from: number) => {
    const made = calls().slice(from);
    expect(made).toEqual([made[0], made[0]]);
    expect(made[0]?.name).toBe(name);
  };
  return {
    /**
     * Runs an activity twice, and expects the same state after both runs.
     *
     * @param name of the activity. `activities-covered.test.ts` searches for these names.
     * @param run calls the activity once.
     */
    twice: async <Result>(name: string, run: () => Promise<Result>): Promise<[Result, Result]> => {
      const from = calls().length;
      const first = await run();
      const before = await state();
      const second = await run();
      expect(await state()).toEqual(before);
      expectTwoCalls(name, from);
      return [first, second];
    },
    /** Like `twice`, for an activity that ends the work. The second run must fail with the end of the work. */
    expectTwiceToTheEnd: async (name: string, run: () => Promise<unknown>, end: Record<string, unknown>) => {
      const from = calls().length;
      await run();
      const before = await state();
      await expect(run()).rejects.toMatchObject({ type: WORK_FINISHED, nonRetryable: true, details: [end] });
      expect(await state()).toEqual(before);
      expectTwoCalls(name, from);
    },
  };
}
