/** The former choice of the attempts that are judged; see `last-attempt-only-worker.ts`. */
import { attemptsThatMayCost as allThatMayCost } from '#db/work/attempts.ts';

export * from '#db/work/attempts.ts';

/** Only the newest, which is the first. */
export const attemptsThatMayCost: typeof allThatMayCost = async (...question) =>
  (await allThatMayCost(...question)).slice(0, 1);
