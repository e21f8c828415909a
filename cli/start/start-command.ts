import { startSettings, type StartOptions } from '#cli/start/settings.ts';
import { start } from '#cli/start/start.ts';
import { Terminal } from '#cli/terminal/terminal.ts';
import { messageOf } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

// Ctrl-C reaches us from the terminal and once more from npm; only a later one is meant as "at once".
const SAME_SIGNAL_MS = 1_000;

/** `reseller start`. @throws UserError or ConfigurationError when it cannot come up. */
export async function runStartCommand(options: StartOptions, environment: Environment): Promise<void> {
  // Databases, logs and keys are their owner's alone.
  process.umask(0o077);
  const stopping = new AbortController();
  let killAll = () => undefined as void;
  let askedAt = 0;
  const terminal = new Terminal(process.stdout);
  const onSignal = () => {
    if (!stopping.signal.aborted) {
      askedAt = Date.now();
      terminal.say('\nStopping everything; Ctrl-C again ends it at once.');
      stopping.abort();
    } else if (Date.now() - askedAt > SAME_SIGNAL_MS) {
      killAll();
    }
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  // A terminal that was closed takes no more output; that must not keep us from stopping in order.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  process.once('exit', () => killAll());
  process.once('uncaughtException', (error) => {
    killAll();
    process.stderr.write(`${error.stack ?? messageOf(error)}\n`);
    process.exit(1);
  });
  await start({
    settings: startSettings(options, environment),
    environment,
    terminal,
    signal: stopping.signal,
    onKillable: (kill) => {
      killAll = kill;
    },
  });
}
