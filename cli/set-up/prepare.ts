import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { obtainTemporalPrograms } from '#cli/embedded/temporal-programs.ts';
import { obtainTestServer } from '#cli/embedded/temporal-test-server.ts';
import { type Step, Terminal } from '#cli/terminal/terminal.ts';
import type { Environment } from '#config/environment.ts';

/**
 * `reseller prepare`: downloads or builds the Temporal servers, with progress.
 *
 * @param options.cluster also builds the programs of a cluster.
 * @throws UserError when that fails.
 */
export async function prepareBinaries(environment: Environment, options: { readonly cluster: boolean }): Promise<void> {
  const terminal = new Terminal(process.stdout);
  const prepare = async (name: string, obtain: (step: Step) => Promise<string>) => {
    const step = terminal.step(name);
    try {
      step.done(await obtain(step));
    } catch (error) {
      step.fail();
      throw error;
    }
  };
  await prepare('Temporal server', async (step) => {
    const { path, source } = await obtainTemporalCli({
      environment,
      progress: (text) => step.update(text),
      announce: (text) => terminal.say(text),
    });
    return `${path} (${source})`;
  });
  await prepare('Time-skipping test server', (step) =>
    obtainTestServer({ environment, progress: (text) => step.update(text) }),
  );
  if (!options.cluster) return;
  await prepare('Temporal server for PostgreSQL, and its UI', async (step) => {
    const { server } = await obtainTemporalPrograms({
      environment,
      progress: (text) => step.update(text),
      announce: (text) => terminal.say(text),
    });
    return server;
  });
}
