import { spawnSync } from 'node:child_process';
import * as z from 'zod';
import { findTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { readTemporalConfig } from '#config/config.ts';
import { parseEnvironment, type Environment } from '#config/environment.ts';
import { CONFIGURATION_FIELDS } from '#config/variables.ts';

/**
 * `reseller temporal -- ARGUMENTS`: runs the Temporal CLI with the addresses of Temporal and the codec server in its
 * environment. Options among the arguments override them.
 *
 * @param settings configuration with the addresses.
 * @param environment environment of this process; the program gets it too.
 * @returns the exit code of the program.
 * @throws UserError when there is no Temporal CLI on this machine; ConfigurationError
 */
export function runTemporalCli(args: readonly string[], settings: Environment, environment: Environment): number {
  const cli = findTemporalCli(environment);
  if (cli === undefined) {
    throw new UserError(
      'There is no Temporal CLI on this machine.',
      'Run `npx reseller prepare`, which downloads or builds it.',
    );
  }
  const env = { ...environment, ...temporalVariables(settings) };
  const { status, error } = spawnSync(cli.path, args, { stdio: 'inherit', env });
  if (error !== undefined)
    throw new UserError(
      `${cli.path} could not be run: ${error.message}.`,
      'Set TEMPORAL_CLI_PATH to another Temporal CLI.',
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
    ...(tls === undefined ? {} : { TEMPORAL_TLS: 'true', ...tlsVariables(settings) }),
    ...(apiKey === undefined ? {} : { TEMPORAL_API_KEY: apiKey }),
    TEMPORAL_CODEC_ENDPOINT: `http://127.0.0.1:${codec.CODEC_PORT}`,
    ...(codec.CODEC_TOKEN === undefined ? {} : { TEMPORAL_CODEC_AUTH: `Bearer ${codec.CODEC_TOKEN}` }),
  };
}

/** The variables of the CLI for the same files. */
function tlsVariables(settings: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(TLS_OF_THE_CLI).flatMap(([ours, name]) => {
      const value = settings[ours];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}

const TLS_OF_THE_CLI = {
  TEMPORAL_TLS_CA: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  TEMPORAL_TLS_CERT: 'TEMPORAL_TLS_CLIENT_CERT_PATH',
  TEMPORAL_TLS_KEY: 'TEMPORAL_TLS_CLIENT_KEY_PATH',
  TEMPORAL_TLS_SERVER_NAME: 'TEMPORAL_TLS_SERVER_NAME',
} as const;
