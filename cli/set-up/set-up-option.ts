import type { Environment } from '#config/environment.ts';

/** For commands that look at a set-up: where it is, other than in our environment. */
export const SET_UP = [
  '--data <folder>',
  'of what `npm start` runs on this folder, such as .data, instead of our environment',
] as const;

export interface SetUpOption {
  readonly data?: string;
}

/** The environment of the set-up that the option names; ours without it. */
export type EnvironmentFor = (option: SetUpOption) => Promise<Environment>;
