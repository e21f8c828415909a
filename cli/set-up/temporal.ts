import { spawnSync } from 'node:child_process';
import { obtainTemporalCli, findTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { obtainTemporalPrograms } from '#cli/embedded/temporal-cluster.ts';
import { type Step, Terminal } from '#cli/terminal/terminal.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { readParts } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';

export async function prepareBinaries(
  options: { readonly cluster?: boolean },
  environment: Environment,
): Promise<void> {
  const terminal = new Terminal(process.stdout);
  const obtain = (step: Step) => ({
    environment,
    progress: (text: string) => step.update(text),
    announce: (text: string) => terminal.say(text),
  });
  await terminal.during('Temporal server', async (step) => {
    const { path, source } = await obtainTemporalCli(obtain(step));
    step.done(`${path} (${source})`);
  });
  if (options.cluster !== true) return;
  await terminal.during('Temporal server for PostgreSQL, and its UI', async (step) =>
    step.done((await obtainTemporalPrograms(obtain(step))).server),
  );
}

/** Options among the arguments override the addresses. The program also gets `environment`. */
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
  const { temporal, codec } = readParts(['temporal', 'codec'], settings);
  const { address, namespace, tls, apiKey } = temporal;
  return {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    ...(tls === undefined ? {} : { TEMPORAL_TLS: 'true', ...tlsVariables(settings) }),
    ...(apiKey === undefined ? {} : { TEMPORAL_API_KEY: apiKey }),
    TEMPORAL_CODEC_ENDPOINT: `http://127.0.0.1:${codec.port}`,
    ...(codec.token === undefined ? {} : { TEMPORAL_CODEC_AUTH: `Bearer ${codec.token}` }),
  };
}

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
