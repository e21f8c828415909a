import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { typescriptSample } from '#api/site/reference-document.ts';
import { apiOperations } from '#cli/api/operations.ts';
import { PROJECT } from '#test/support/compose.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const operations = await apiOperations();
const folder = temporaryFolder('typescript-samples');
const samples = operations.flatMap((operation) => {
  const sample = typescriptSample(operation, 'https://fulfilment.example.com');
  return sample === undefined ? [] : [{ id: operation.id, sample }];
});

afterAll(() => removeFolder(folder));

it('the reference has a sample for each call with a key, and the compiler accepts it with the client', () => {
  expect(samples.map(({ id }) => id)).toEqual(
    operations.filter(({ scope }) => scope !== undefined).map(({ id }) => id),
  );
  for (const { id, sample } of samples) writeFileSync(join(folder, `${id}.ts`), `${sample}\nexport {};\n`);
  const client = join(PROJECT, 'clients/typescript/src/index.ts');
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    typeRoots: [join(PROJECT, 'node_modules/@types')],
    types: ['node'],
    paths: { 'reseller-fulfilment-client': [client] },
  };
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const compiler = join(PROJECT, 'node_modules/.bin/tsc');
  const { stdout, status } = spawnSync(compiler, ['-p', folder], { encoding: 'utf8', cwd: PROJECT });
  expect([status, stdout]).toEqual([0, '']);
});
