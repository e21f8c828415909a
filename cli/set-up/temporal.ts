import { spawnSync } from 'node:child_process';
import * as z from 'zod';
import { findTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { CONFIGURATION_FIELDS, readTemporalConfig } from '#config/config.ts';
import { parseEnvironment, type Environment } from '#config/environment.ts';

/**
 * `reseller temporal -- ARGUMENTS`: the Temporal CLI that `npm start` uses, told by environment where Temporal and the
 * codec server are. Options among the arguments go before that.
 *
 * @param environment of this process, which the program is given as well.
 * @param settings where Temporal is, and the codec server of the same machine.
 * @returns the exit code of the program.
 * @throws UserError when there is no Temporal CLI on this machine; ConfigurationError
 */
export function runTemporalCli(args: readonly string[], settings: Environment, environment: Environment): number {
  const cli = findTemporalCli(environment);
  if (cli === undefined) {
    throw new UserError(
      'There is no Temporal CLI on this machine.',
      'Run `npx reseller prepare`: it fetches or builds it, as `npm start` does.',
    );
  }
  const env = { ...environment, ...temporalVariables(settings) };
  const { status, error } = spawnSync(cli.path, args, { stdio: 'inherit', env });
  if (error !== undefined)
    throw new UserError(
      `${cli.path} could not be run: ${error.message}.`,
      'Name another Temporal CLI in TEMPORAL_CLI_PATH.',
    );
  return status ?? 1;
}

function temporalVariables(settings: Environment): Record<string, string> {
  const { address, namespace, tls, apiKey } = readTemporalConfig(settings);
  const { CODEC_PORT, CODEC_TOKEN } = CONFIGURATION_FIELDS.codec;
  const codec = parseEnvironment(z.object({ CODEC_PORT, CODEC_TOKEN }), settings);
  return {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    ...(tls ? { TEMPORAL_TLS: 'true' } : {}),
    ...(apiKey === undefined ? {} : { TEMPORAL_API_KEY: apiKey }),
    TEMPORAL_CODEC_ENDPOINT: `http://127.0.0.1:${codec.CODEC_PORT}`,
    ...(codec.CODEC_TOKEN === undefined ? {} : { TEMPORAL_CODEC_AUTH: `Bearer ${codec.CODEC_TOKEN}` }),
  };
}
