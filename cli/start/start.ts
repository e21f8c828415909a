import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { runUntilStopped } from '#cli/start/run.ts';
import { dataDirectoryOf, startSettings, type StartOptions } from '#cli/start/settings.ts';
import { Terminal } from '#cli/terminal/terminal.ts';
import {
  writeFailure,
  isDiskFull,
  isExplained,
  report,
  chainOf,
  messageOf,
  UserError,
} from '#cli/terminal/user-error.ts';
import { withoutFiles, type Environment } from '#config/environment.ts';

// One Ctrl-C arrives twice: from the terminal and from npm. Only a later one kills all processes.
const SAME_SIGNAL_MS = 1_000;

/** Returns after everything was stopped. */
export async function start(options: StartOptions, environment: Environment): Promise<void> {
  // Only the owner may read databases, logs and keys.
  process.umask(0o077);
  const stopping = new AbortController();
  let killAll = () => undefined as void;
  let signalledAt = 0;
  const terminal = new Terminal(process.stdout);
  const onSignal = () => {
    if (!stopping.signal.aborted) {
      signalledAt = Date.now();
      terminal.say('\nStopping all processes. Press Ctrl-C again to kill them immediately.');
      stopping.abort();
    } else if (Date.now() - signalledAt > SAME_SIGNAL_MS) {
      killAll();
    }
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  // A closed terminal must not prevent an orderly stop.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  process.once('exit', () => killAll());
  process.once('uncaughtException', (error) => {
    killAll();
    process.exit(report(explained(error, dataDirectoryOf(options)), process.stderr));
  });
  const given = withoutFiles(environment);
  const settings = startSettings(options, given);
  try {
    await runUntilStopped({
      settings,
      environment: given,
      terminal,
      signal: stopping.signal,
      onKillable: (kill) => {
        killAll = kill;
      },
    });
  } catch (error) {
    throw explained(error, settings.dataDirectory);
  }
}

/** The log has the stack of an unexpected error. */
export function explained(error: unknown, dataDirectory: string): unknown {
  const failure = writeFailure(chainOf(error).find(isDiskFull) ?? error, dataDirectory);
  if (isExplained(failure)) return failure;
  const file = join(dataDirectory, 'logs', 'start.log');
  try {
    appendFileSync(file, `${new Date().toISOString()} ${inspect(error)}\n`);
  } catch {
    // The causes are printed.
  }
  const causes = chainOf(error).map(messageOf);
  return new UserError(
    `Everything was stopped, because of an unexpected error: ${causes.join('\nCaused by: ') || String(error)}`,
    `Its details are in ${file}.`,
    { cause: error },
  );
}
