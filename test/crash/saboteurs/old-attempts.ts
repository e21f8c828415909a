/** The former choice of the attempts that are judged; see `last-attempt-only-worker.ts`. */
import { attemptsOf as allAttemptsOf } from '#db/attempts/attempts.ts';

export * from '#db/attempts/attempts.ts';

/** Only the newest, which is the first. */
export const attemptsOf: typeof allAttemptsOf = async (db, work) => (await allAttemptsOf(db, work)).slice(0, 1);
