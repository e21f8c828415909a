import { attemptsThatMayCost as allThatMayCost } from '#db/work/attempts.ts';

export * from '#db/work/attempts.ts';

export const attemptsThatMayCost: typeof allThatMayCost = async (...question) =>
  (await allThatMayCost(...question)).slice(0, 1);
