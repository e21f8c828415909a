import { exitOnConfigurationError } from '#config/fields.ts';
import { readSimulatorConfig } from '#config/simulator.ts';
import { dialectNames } from '#simulator/dialect.ts';
import { faultProfileNames } from '#simulator/fault-profile.ts';
import { optionsOf } from '#simulator/options.ts';
import { startSimulator, type RunningSimulator } from '#simulator/server.ts';
import { shapeNames } from '#simulator/shape/shape.ts';
import { StoreError } from '#simulator/store/store.ts';

const config = exitOnConfigurationError(() =>
  readSimulatorConfig({ dialects: dialectNames, shapes: shapeNames, faultProfiles: faultProfileNames }),
);
const simulator = await start();
const { url, baseUrl } = simulator;
process.stdout.write(`The simulator listens on ${url} (service: ${baseUrl}, admin: ${url}/simulator)\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // A second signal ends the process at once, as without this handler.
    void simulator.close();
  });
}

async function start(): Promise<RunningSimulator> {
  try {
    return await startSimulator(optionsOf(config));
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

function explain(error: unknown): string {
  if (error instanceof StoreError) return error.message;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const where = `${config.host}:${config.port}`;
  if (code === 'EADDRINUSE') {
    return `Another process listens on ${where}. Stop it, or set SIMULATOR_PORT to another port.`;
  }
  if (code === 'EADDRNOTAVAIL' || code === 'EACCES') {
    return `The simulator may not listen on ${where} (${code}). Set SIMULATOR_HOST or SIMULATOR_PORT.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
