/** Options that several commands take. */
import type { Command } from 'commander';
import type { Environment } from '#config/environment.ts';

/** For commands that use the database, Temporal or the service directly. */
export const SET_UP = [
  '--data <folder>',
  'use the set-up that `npm start` runs on this folder, such as .data, instead of the environment variables',
] as const;

export interface SetUpOption {
  readonly data?: string;
}

/** Reads the environment of the set-up on the given folder; without --data that of this process. */
export type EnvironmentFor = (option: SetUpOption) => Promise<Environment>;

/** Adds --api and --data for commands that call the REST API. See `apiAccess`. */
export function withApiOptions(command: Command): Command {
  return command
    .option(
      '--api <url>',
      'base address of the API (default: that of the `npm start` on the data folder; if none runs there, ' +
        'http://127.0.0.1:3000, with RESELLER_API_KEY and without --data only)',
    )
    .option(
      '--data <folder>',
      'data folder of `npm start`, for its address and API key; RESELLER_API_KEY has precedence',
      '.data',
    );
}

/** The reason that is stored with an operator's action. */
export const REASON = ['--reason <text>', 'reason, shown in the timeline; no personal data'] as const;
