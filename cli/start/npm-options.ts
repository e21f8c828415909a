import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

/**
 * Without `--` before them npm takes a script's options for its own, and leaves nothing of them but a variable.
 *
 * @param options as they are typed: `--no-demo`, `--api-port`.
 * @throws UserError when any was meant for us, so that nothing is started otherwise than it was asked for.
 */
export function refuseOptionsTakenByNpm(options: readonly string[], environment: Environment): void {
  const taken = options.filter((option) => environment[variableOf(option)] !== undefined);
  if (taken.length === 0) return;
  throw new UserError(
    `npm has kept ${taken.join(' and ')} for itself, and nothing was started.`,
    `Put \`--\` before what is meant for the start: npm start -- ${taken.join(' ')}`,
  );
}

function variableOf(option: string): string {
  return `npm_config_${option.replace(/^--(no-)?/, '').replaceAll('-', '_')}`;
}
