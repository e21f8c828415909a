import { isPortFree } from '#cli/embedded/ports.ts';
import { PORTS, portsTaken, type StartSettings } from '#cli/start/settings.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { ConfigurationError } from '#config/configuration-error.ts';

/**
 * Checks before anything is started that all ports are free.
 *
 * @throws ConfigurationError when a port is set twice; UserError with every port that another program uses.
 */
export async function requireFreePorts(settings: StartSettings): Promise<void> {
  const wanted = portsTaken(settings).map((name) => ({ port: settings.ports[name], ...PORTS[name] }));
  const twice = wanted.find(({ port }, index) => wanted.findIndex((other) => other.port === port) !== index);
  if (twice !== undefined) {
    const message = `Port ${twice.port} is set twice, once for ${twice.use}: choose another with --${twice.option}`;
    throw new ConfigurationError([{ name: '', message }]);
  }
  const free = await Promise.all(wanted.map(({ port }) => isPortFree(port)));
  const busy = wanted.filter((_, index) => free[index] !== true);
  if (busy.length === 0) return;
  throw new UserError(
    busy.map(({ port, use }) => `Port ${port}, for ${use}, is used by another program.`).join('\n'),
    `Stop that program (\`lsof -i :${busy[0]?.port}\` names it), or choose other ports: ` +
      `${busy.map(({ option }) => `--${option} N`).join(' ')}.`,
  );
}
