import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

/**
 * Detects options that npm kept: without `--` before them npm takes a script's options for its own, and only sets an
 * environment variable.
 *
 * @param options as they are typed: `--no-demo`, `--api-port`.
 * @throws UserError when npm kept one of them: the start would ignore it.
 */
export function refuseOptionsTakenByNpm(options: readonly string[], environment: Environment): void {
  const taken = options.filter((option) => environment[variableOf(option)] !== undefined);
  if (taken.length === 0) return;
  throw new UserError(
    `npm did not pass on ${taken.join(' and ')}, so nothing was started.`,
    `Put \`--\` before the options: ${npmCommand(environment)} -- ${taken.join(' ')}`,
  );
}

/** The npm command that was typed. */
function npmCommand({ npm_lifecycle_event: script = 'start' }: Environment): string {
  return script === 'start' ? 'npm start' : `npm run ${script}`;
}

function variableOf(option: string): string {
  return `npm_config_${option.replace(/^--(no-)?/, '').replaceAll('-', '_')}`;
}
