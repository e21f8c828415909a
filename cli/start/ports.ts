import { isPortFree } from '#cli/embedded/ports.ts';
import { PORTS, portsTaken, type StartSettings } from '#cli/start/settings.ts';
import { UserError } from '#cli/terminal/user-error.ts';

/**
 * Checks before anything is started that all ports are free.
 *
 * @throws UserError with every port that is taken.
 */
export async function requireFreePorts(settings: StartSettings): Promise<void> {
  const wanted = portsTaken(settings).map((name) => ({ port: settings.ports[name], ...PORTS[name] }));
  const twice = wanted.find(({ port }, index) => wanted.findIndex((other) => other.port === port) !== index);
  if (twice !== undefined) {
    throw new UserError(
      `Port ${twice.port} is set twice, once for ${twice.use}.`,
      `Choose another with --${twice.option}.`,
    );
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
