import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const run = promisify(execFile);

it('the workflows are bundled in a project whose path has characters of URIs and shells', async ({
  onTestFinished,
}) => {
  const folder = temporaryFolder('bundle');
  onTestFinished(() => removeFolder(folder));
  const project = join(folder, "a b#c?d%25!'é");
  mkdirSync(project);
  for (const name of ['package.json', 'domain', 'platform', 'worker', 'workflows'])
    cpSync(join(PROJECT, name), join(project, name), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(project, 'node_modules'));
  const { href } = pathToFileURL(join(project, 'worker/bundle.ts'));
  const file = join(folder, 'workflows.js');
  const call = 'const { bundleWorkflows } = await import(process.argv[1]); await bundleWorkflows(process.argv[2]);';
  await run(process.execPath, ['--input-type=module', '--eval', call, href, file]);
  expect(readFileSync(file, 'utf8')).toContain('orderWorkflow');
});
