import { exitOnConfigurationError } from '#config/configuration-error.ts';
import { dialectNames } from '#simulator/behaviour/dialect.ts';
import { faultProfileNames } from '#simulator/behaviour/faults.ts';
import { readSettings, SIMULATOR_FIELDS } from '#simulator/options.ts';
import { startSimulator } from '#simulator/service/server.ts';
import { shapeNames } from '#simulator/shapes/shape.ts';
import { StoreError } from '#simulator/store/store.ts';

/** EX_USAGE of sysexits.h; EXIT_CONFIGURATION is its EX_CONFIG. */
const EXIT_USAGE = 64;

const HELP = `Usage: npm run simulator [-- --help]

Runs a simulator of the service, with a status page and an admin API, until SIGINT or SIGTERM.
It takes no arguments. docs/simulator.md explains its environment variables:

${Object.keys(SIMULATOR_FIELDS)
  .map((name) => `  ${name}`)
  .join('\n')}

Dialects: ${dialectNames.join(', ')}
Shapes: ${shapeNames.join(', ')}
Fault profiles: ${faultProfileNames.join(', ')}
`;

const [argument, ...others] = process.argv.slice(2);
if (argument === '--help' && others.length === 0) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (argument !== undefined) {
  process.stderr.write(`The simulator takes no argument but --help; it got ${[argument, ...others].join(' ')}\n`);
  process.exit(EXIT_USAGE);
}

const settings = exitOnConfigurationError(readSettings);
const simulator = await startSimulator(settings).catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  return process.exit(1);
});
const { url, baseUrl } = simulator;
process.stdout.write(`The simulator listens on ${url} (service: ${baseUrl}, admin: ${url}/simulator)\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // A second signal ends the process at once, as without this handler.
    void simulator.close();
  });
}

function explain(error: unknown): string {
  if (error instanceof StoreError) return `${error.message} ${error.advice}`;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const where = `${settings.host}:${settings.port}`;
  if (code === 'EADDRINUSE') {
    return `Another process listens on ${where}. Stop it, or set SIMULATOR_PORT to another port.`;
  }
  if (code === 'EADDRNOTAVAIL' || code === 'EACCES') {
    return `The simulator cannot listen on ${where} (${code}). Set SIMULATOR_HOST or SIMULATOR_PORT.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
