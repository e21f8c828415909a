/** What every activity must stand: to run twice with the same input, as Temporal may let it. */
import { expect } from 'vitest';
import { WORK_FINISHED } from '#workflows/messages.ts';

/** A call of an activity. */
export interface ActivityCall {
  readonly name: string;
  /** As JSON. */
  readonly input: string;
}

/** Notes each call of some activities. @param calls where it is added. @param before what is done before each. */
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
  // Same names, same signatures: each entry is wrapped and nothing else.
  return Object.fromEntries(noted) as Activities;
}

export interface TwiceOptions {
  /** The calls that {@link recorded} has noted so far. */
  readonly calls: () => readonly ActivityCall[];
  /** Everything that the activities may change: in our database, and at the servers that they call. */
  readonly state: () => Promise<unknown>;
}

export interface Twice {
  /**
   * Runs an activity twice. What there is after the second run is what there was after the first.
   *
   * @param name of the activity; `activities-covered.test.ts` finds by it what is tested so.
   * @param run calls that activity, once.
   */
  readonly twice: <Result>(name: string, run: () => Promise<Result>) => Promise<[Result, Result]>;
  /** As `twice`, for an activity after which the work has ended: the second run says so, and how. */
  readonly expectTwiceToTheEnd: (
    name: string,
    run: () => Promise<unknown>,
    end: Record<string, unknown>,
  ) => Promise<void>;
}

export function twiceOver({ calls, state }: TwiceOptions): Twice {
  const expectTwoCalls = (name: string, from: number) => {
    const made = calls().slice(from);
    expect(made).toEqual([made[0], made[0]]);
    expect(made[0]?.name).toBe(name);
  };
  return {
    twice: async (name, run) => {
      const from = calls().length;
      const first = await run();
      const before = await state();
      const second = await run();
      expect(await state()).toEqual(before);
      expectTwoCalls(name, from);
      return [first, second];
    },
    expectTwiceToTheEnd: async (name, run, end) => {
      const from = calls().length;
      await run();
      const before = await state();
      await expect(run()).rejects.toMatchObject({ type: WORK_FINISHED, nonRetryable: true, details: [end] });
      expect(await state()).toEqual(before);
      expectTwoCalls(name, from);
    },
  };
}
