import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkBoundaries, type BoundaryReport } from '#scripts/boundaries/check-boundaries.ts';

const ROOT = join(import.meta.dirname, '../..', '..');
const FOLDERS = [
  'domain',
  'platform/config',
  'platform/crypto',
  'platform/telemetry',
  'upstream',
  'db',
  'fulfilment',
  'workflows',
  'activities',
  'platform/temporal',
  'platform/outbound',
  'api',
  'worker',
  'simulator',
  'cli',
  'scripts',
  'bench',
  'test',
];

/** The table of the design, written a second time: the allowed imports of each folder. */
const ALLOWED: Record<string, string[]> = {
  domain: [],
  'platform/config': ['domain'],
  'platform/crypto': ['domain'],
  'platform/telemetry': ['platform/config', 'domain'],
  upstream: ['domain', 'platform/crypto', 'platform/telemetry'],
  db: ['domain', 'platform/crypto', 'platform/telemetry'],
  fulfilment: ['domain', 'db', 'platform/crypto', 'platform/telemetry', 'upstream'],
  workflows: ['domain'],
  activities: ['domain', 'platform/crypto', 'platform/telemetry', 'upstream', 'db', 'fulfilment', 'workflows'],
  'platform/temporal': ['domain', 'platform/config', 'platform/crypto', 'platform/telemetry'],
  'platform/outbound': ['domain', 'db', 'platform/crypto', 'platform/telemetry'],
  api: [
    'domain',
    'platform/config',
    'platform/crypto',
    'platform/telemetry',
    'upstream',
    'db',
    'fulfilment',
    'platform/temporal',
    'platform/outbound',
  ],
  worker: [
    'domain',
    'platform/config',
    'platform/crypto',
    'platform/telemetry',
    'upstream',
    'db',
    'fulfilment',
    'workflows',
    'activities',
    'platform/temporal',
    'platform/outbound',
  ],
  simulator: ['platform/config'],
  cli: FOLDERS.filter((folder) => folder !== 'test' && folder !== 'bench'),
  scripts: FOLDERS.filter((folder) => folder !== 'test' && folder !== 'bench'),
  bench: FOLDERS,
  test: FOLDERS,
};

let tree: string;
let report: BoundaryReport;

/** Planted imports, by file, in one copy of the real tree, so that each rule is tested on real files. */
const PLANTS: Record<string, string> = {
  ...Object.fromEntries(
    FOLDERS.map((folder) => [`${folder}/planted-target.ts`, 'export const planted = 1;\nexport type Planted = 1;']),
  ),
  ...Object.fromEntries(
    FOLDERS.flatMap((folder) =>
      FOLDERS.map((other) => [
        `${folder}/planted/${other}.ts`,
        `import '#${other.replace('platform/', '')}/planted-target.ts';`,
      ]),
    ),
  ),
  'domain/planted-forms/re-export.ts': "export * from '#api/planted-target.ts';",
  'domain/planted-forms/type-import.ts':
    "import type { Planted } from '#api/planted-target.ts';\nexport const one: Planted = 1;",
  'domain/planted-forms/inline-type.ts': "export const one: import('#api/planted-target.ts').Planted = 1;",
  'domain/planted-forms/dynamic-import.ts': "export const later = () => import('#api/planted-target.ts');",
  'domain/planted-forms/path-in-a-string.ts': "export const path = import.meta.resolve('#api/planted-target.ts');",
  'domain/planted-forms/beside-using.ts': "{ using _ = f(); }\nawait import('#api/planted-target.ts');",
  'workflows/planted-type.ts':
    "import type { Planted } from '#activities/planted-target.ts';\nexport const one: Planted = 1;",
  'workflows/planted-value.ts': "import { planted } from '#activities/planted-target.ts';\nexport const one = planted;",
  // The braces disappear, but the import remains, so Node would load the activities.
  'workflows/planted-half.ts':
    "import { type Planted } from '#activities/planted-target.ts';\nexport const one: Planted = 1;",
  'api/planted-messages.ts': "import '#workflows/messages.ts';\nimport '#workflows/search-attributes.ts';",
  'platform/temporal/planted-messages.ts':
    "import '#workflows/messages.ts';\nimport '#workflows/search-attributes.ts';",
  'simulator/planted-contract.ts': "import '#upstream/contract.ts';",
  'domain/planted-builtin.ts': "import 'node:crypto';",
  'workflows/planted-builtin.ts': "import 'node:crypto';",
  'domain/planted-package.ts': "import 'pg';",
  'workflows/planted-package.ts': "import 'pg';",
  'db/planted-sibling.ts': "import './planted-target.ts';",
  'db/planted-parent.ts': "import '../domain/planted-target.ts';",
  'db/planted-missing.ts': "import '#domain/nowhere.ts';",
  'db/planted-development.ts': "import 'fast-check';",
  'db/planted-undeclared.ts': "import 'left-pad';",
  'db/planted-broken.ts': 'import {',
  'fulfilment/planted-call.ts':
    "import type { ServiceClient } from '#upstream/client.ts';\nexport const call = (service: ServiceClient) => service;",
  'fulfilment/planted-caller.ts': "import '#fulfilment/planted-call.ts';",
  'api/planted-call.ts': "import '#fulfilment/planted-caller.ts';",
  'db/circle-a.ts': "import '#db/circle-b.ts';",
  'db/circle-b.ts': "import '#db/circle-c.ts';",
  'db/circle-c.ts': "import '#db/circle-a.ts';",
  'db/types-a.ts': "import type { B } from '#db/types-b.ts';\nexport type A = B;",
  'db/types-b.ts': "import type { A } from '#db/types-a.ts';\nexport type B = A | 1;",
  'bench/own-package/package.json': '{}',
  'bench/own-package/main.ts': "import 'left-pad';",
  'helpers/anything.ts': 'export const anything = 1;',
};

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'boundaries-'));
  for (const path of ['package.json', ...FOLDERS]) {
    if (!existsSync(join(ROOT, path))) continue;
    cpSync(join(ROOT, path), join(tree, path), {
      recursive: true,
      filter: (source) => !/node_modules|artifacts/.test(relative(ROOT, source)),
    });
  }
  for (const [path, text] of Object.entries(PLANTS)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), `${text}\n`);
  }
  report = checkBoundaries(tree);
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

function problemsOf(path: string): string[] {
  return report.problems.filter((problem) => problem.startsWith(`${path} →`));
}

describe('the boundary check', () => {
  it('sees every TypeScript file of the tree, and more imports than files', () => {
    const onDisk = FOLDERS.flatMap((folder) =>
      readdirSync(join(tree, folder), { recursive: true, encoding: 'utf8' }).filter(
        // Separate packages are not checked.
        (path) =>
          path.endsWith('.ts') && !/own-package|^test\/mutation\/|^bench\/peers\/engines\//.test(`${folder}/${path}`),
      ),
    );

    expect(report.files).toBe(onDisk.length);
    expect(Object.keys(report.filesByFolder).toSorted()).toEqual(FOLDERS.toSorted());
    expect(report.imports).toBeGreaterThan(report.files);
  });

  it.each(FOLDERS)('reports each forbidden planted import of %s/, and no allowed one', (folder) => {
    const reported = FOLDERS.filter((other) => problemsOf(`${folder}/planted/${other}.ts`).length > 0);

    expect(reported).toEqual(FOLDERS.filter((other) => other !== folder && !ALLOWED[folder]?.includes(other)));
  });

  it.each(Object.keys(PLANTS).filter((path) => path.startsWith('domain/planted-forms/')))(
    'detects the forbidden import in %s',
    (path) => {
      expect(problemsOf(path)).toEqual([expect.stringContaining('domain/ may import nothing of ours')]);
    },
  );

  it('permits only type imports of activities in workflows', () => {
    expect(problemsOf('workflows/planted-type.ts')).toEqual([]);
    expect(problemsOf('workflows/planted-value.ts')).toEqual([expect.stringContaining('by type only')]);
    expect(problemsOf('workflows/planted-half.ts')).toEqual([expect.stringContaining('by type only')]);
  });

  it('permits api/ and platform/temporal/ to import only the messages of workflows', () => {
    for (const folder of ['api', 'platform/temporal']) {
      expect(problemsOf(`${folder}/planted-messages.ts`)).toEqual([]);
      expect(problemsOf(`${folder}/planted/workflows.ts`)).toHaveLength(1);
    }
  });

  it('forbids the API a use case that calls the service, also behind another one', () => {
    expect(problemsOf('api/planted-call.ts')).toEqual([expect.stringContaining('a use case that calls the service')]);
  });

  it('permits the simulator to import only the wire shapes of upstream', () => {
    expect(problemsOf('simulator/planted-contract.ts')).toEqual([]);
    expect(problemsOf('simulator/planted/upstream.ts')).toHaveLength(1);
  });

  it.each(['domain', 'workflows'])(
    'reports node: built-ins and foreign packages in %s/, which is bundled',
    (folder) => {
      expect(problemsOf(`${folder}/planted-builtin.ts`)).toEqual([expect.stringContaining('no node: built-in')]);
      expect(problemsOf(`${folder}/planted-package.ts`)).toEqual([expect.stringContaining('no package but')]);
    },
  );

  it.each([
    ['relative imports of siblings', 'db/planted-sibling.ts', 'never by a relative path'],
    ['relative imports of parents', 'db/planted-parent.ts', 'never by a relative path'],
    ['imports of files that do not exist', 'db/planted-missing.ts', 'does not exist'],
    ['development dependencies in production code', 'db/planted-development.ts', 'development dependency'],
    ['packages that package.json does not name', 'db/planted-undeclared.ts', 'not in package.json'],
  ])('reports %s', (_, path, problem) => {
    expect(problemsOf(path)).toEqual([expect.stringContaining(problem)]);
  });

  it('ignores a separate package', () => {
    expect(report.problems.filter((problem) => problem.includes('own-package'))).toEqual([]);
  });

  it('finds a cycle of files, and permits a cycle of type imports', () => {
    const circles = report.problems.filter((problem) => problem.includes('circle'));

    expect(circles.filter((problem) => problem.includes('db/circle-a.ts'))).toHaveLength(1);
    expect(circles.filter((problem) => problem.includes('db/types-a.ts'))).toEqual([]);
  });

  it('reports a folder outside of the table, and an unparsable file', () => {
    expect(report.problems).toContainEqual(expect.stringMatching(/^helpers\/ holds TypeScript/));
    expect(report.problems).toContainEqual(expect.stringMatching(/^db\/planted-broken\.ts cannot be parsed/));
  });

  it('fails when it sees almost no files', () => {
    const empty = mkdtempSync(join(tmpdir(), 'boundaries-'));
    try {
      writeFileSync(join(empty, 'package.json'), '{}');
      expect(checkBoundaries(empty).problems).toEqual([expect.stringContaining('only 0 TypeScript files')]);
    } finally {
      rmSync(empty, { recursive: true, force: true });
    }
  });
});
