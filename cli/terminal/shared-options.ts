/** Options that several commands take. */
import type { Command } from 'commander';
import type { Environment } from '#config/environment.ts';

/** For commands that use the database, Temporal or the service directly: where these are. */
export const SET_UP = [
  '--data <folder>',
  'use the set-up that `npm start` runs on this folder, such as .data, instead of the environment variables',
] as const;

export interface SetUpOption {
  readonly data?: string;
}

/** Reads the environment of the set-up that the option names; the environment of this process without the option. */
export type EnvironmentFor = (option: SetUpOption) => Promise<Environment>;

/** For commands that call the REST API: which API, and with which key. See `apiAccess`. */
export function withApiOptions(command: Command): Command {
  return command
    .option(
      '--api <url>',
      'base address of the API (default: the API of the `npm start` that runs on the data folder; with ' +
        'RESELLER_API_KEY ' +
        'and no --data, else http://127.0.0.1:3000)',
    )
    .option('--data <folder>', 'data folder of `npm start`: its address and API key; RESELLER_API_KEY wins', '.data');
}

/** The reason that is stored with an operator's action. */
export const REASON = ['--reason <text>', 'reason, shown in the timeline; no personal data'] as const;
