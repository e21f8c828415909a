import { saysDiskFull, UserError } from '#cli/terminal/user-error.ts';

export function startFailure(what: string, output: string, dataDirectory: string): Error {
  if (saysDiskFull(output)) {
    return new UserError(
      `${what}: no space is left on the disk of ${dataDirectory}.`,
      'Free some space and start again.',
    );
  }
  if (/could not bind|Address already in use/i.test(output)) {
    return new UserError(
      `${what}: its port is taken by another program.`,
      'Start again, or choose a port with --postgres-port.',
    );
  }
  // The exit code of the command that a restore has set.
  if (output.includes('could not restore file')) {
    return new UserError(
      `${what}: it cannot read the archive of its log.\n${output}`,
      `Make the archive that restore_command in ${dataDirectory}/postgresql.auto.conf names readable for the account ` +
        'of PostgreSQL, and start again. Nothing is lost.',
    );
  }
  if (/EACCES|Permission denied/i.test(output)) {
    return new UserError(
      `${what}: permission denied.\n${output}`,
      'When root starts it, PostgreSQL runs as another account, which must enter the folders of the project and of ' +
        `the data. Allow others to enter the folders above ${dataDirectory} (chmod o+x), or start as another user.`,
    );
  }
  return new UserError(
    `${what}.\n${output}`,
    `Its data is in ${dataDirectory}; the lines above are the end of its log.`,
  );
}
