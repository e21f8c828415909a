import { resellerProgram } from '#cli/program.ts';
import { report } from '#cli/terminal/user-error.ts';
import { EXIT_CONFIGURATION } from '#config/configuration-error.ts';

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const { program, usesOwnEnvironment } = resellerProgram(process.env);
try {
  // `help orders` would not enter the command, which then has no options yet.
  const [first, second] = process.argv.slice(2);
  const isHelp = first === 'help' && program.commands.some((each) => each.name() === second);
  await (isHelp ? program.parseAsync([second ?? '', '--help'], { from: 'user' }) : program.parseAsync());
} catch (error) {
  process.exitCode = report(error, process.stderr);
}
if (usesOwnEnvironment() && process.exitCode === EXIT_CONFIGURATION) {
  process.stderr.write((await import('#cli/data-folder/running-environment.ts')).adviceToUseRunning());
}
