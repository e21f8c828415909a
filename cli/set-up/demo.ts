import { join, resolve } from 'node:path';
import { type ApiOptions, developmentAccess } from '#cli/api/api-access.ts';
import { DEFAULT_FOLDER } from '#cli/data-folder/installation.ts';
import { runDemo } from '#cli/set-up/demo-orders.ts';
import { Terminal } from '#cli/terminal/terminal.ts';
import { UserError } from '#cli/terminal/user-error.ts';

/** `reseller demo`: buys an eSIM in a running set-up. @throws UserError when there is no development API key. */
export async function demo(options: ApiOptions): Promise<void> {
  const data = resolve(options.data ?? DEFAULT_FOLDER);
  const api = developmentAccess(options);
  if (api === undefined) {
    throw new UserError(
      `There is no development API key in ${data}.`,
      'Run `npm start` first, or give its data folder with --data. `npm start` creates this key only with the ' +
        'simulator.',
    );
  }
  const delivered = await runDemo({ api, stateFile: join(data, 'demo.json'), terminal: new Terminal(process.stdout) });
  if (!delivered) process.exitCode = 1;
}
