import { runUntilStopped } from '#cli/start/run.ts';
import { startSettings, type StartOptions } from '#cli/start/settings.ts';
import { Terminal } from '#cli/terminal/terminal.ts';
import { messageOf } from '#cli/terminal/user-error.ts';
import { withoutFiles, type Environment } from '#config/environment.ts';

// One Ctrl-C arrives twice: from the terminal and from npm. Only a signal after this time kills all processes.
const SAME_SIGNAL_MS = 1_000;

/**
 * `reseller start`: returns after everything was stopped.
 *
 * @throws UserError or ConfigurationError when a process cannot be started.
 */
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
  // Writing to a closed terminal fails. That must not prevent an orderly stop.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  process.once('exit', () => killAll());
  process.once('uncaughtException', (error) => {
    killAll();
    process.stderr.write(`${error.stack ?? messageOf(error)}\n`);
    process.exit(1);
  });
  const given = withoutFiles(environment);
  await runUntilStopped({
    settings: startSettings(options, given),
    environment: given,
    terminal,
    signal: stopping.signal,
    onKillable: (kill) => {
      killAll = kill;
    },
  });
}
