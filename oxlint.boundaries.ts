/**
 * The allowed imports between folders: the table of docs/architecture.md, as rules of oxlint. Imports inside one folder
 * are always allowed. `npm run check:boundaries` applies them. Relative imports are forbidden by .oxlintrc.json,
 * undeclared packages are found by knip, missing files by the compiler.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'oxlint';

interface Row {
  /** Folders and single files that may be imported, as they stand after the `#` of the import. */
  readonly mayImport: readonly string[];
  /** Parts of these that may not be imported. */
  readonly mayNotImport?: readonly string[];
  /** Folders that may be imported with `import type` only. */
  readonly mayImportTypes?: readonly string[];
  /** Packages that code may import which is bundled into the workflow sandbox. There no `node:` built-in exists. */
  readonly packages?: readonly string[];
}

/** The two files of `workflows/` that workflows share with their callers. */
const MESSAGES = ['workflows/messages.ts', 'workflows/search-attributes.ts'];
/** Use cases that call the service. The API answers from PostgreSQL: neither it nor what it calls imports one. */
const CALLING = 'fulfilment/purchase';
const BELOW_EDGES = 'domain upstream db fulfilment config crypto telemetry temporal outbound'.split(' ');

/** By path of the folder. The last part of a path is also the name in imports: `#config/…` is in `platform/config/`. */
const PRODUCTION: Readonly<Record<string, Row>> = {
  domain: { mayImport: [], packages: ['big.js'] },
  'platform/config': { mayImport: ['domain'] },
  'platform/crypto': { mayImport: ['domain'] },
  'platform/telemetry': { mayImport: ['config', 'domain'] },
  'platform/temporal': { mayImport: ['config', 'crypto', 'domain', 'telemetry', ...MESSAGES] },
  'platform/outbound': { mayImport: ['domain', 'db', 'crypto', 'telemetry'] },
  upstream: { mayImport: ['domain', 'crypto', 'telemetry'] },
  db: { mayImport: ['domain', 'crypto', 'telemetry'] },
  fulfilment: { mayImport: ['domain', 'db', 'crypto', 'telemetry'], mayNotImport: [CALLING] },
  [CALLING]: { mayImport: ['domain', 'upstream', 'db', 'crypto', 'telemetry', 'fulfilment'] },
  workflows: {
    mayImport: ['domain'],
    mayImportTypes: ['activities'],
    packages: ['@temporalio/common', '@temporalio/workflow'],
  },
  activities: { mayImport: ['domain', 'crypto', 'telemetry', 'upstream', 'db', 'fulfilment', 'workflows'] },
  api: { mayImport: [...BELOW_EDGES, ...MESSAGES], mayNotImport: [CALLING] },
  worker: { mayImport: [...BELOW_EDGES, 'activities', 'workflows'] },
  simulator: { mayImport: ['config', 'upstream/contract.ts'] },
};

/** Folders outside production images: development dependencies are allowed there, and all imports but these. */
const TOOLING: Readonly<Record<string, readonly string[]>> = {
  cli: ['test', 'bench'],
  scripts: ['test', 'bench', 'clients'],
  bench: ['clients'],
  test: [],
};

const FOLDERS = [...Object.keys(PRODUCTION), ...Object.keys(TOOLING), 'clients'].map(nameOf);

const { dependencies, devDependencies } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'),
) as Record<'dependencies' | 'devDependencies', Record<string, string>>;

function nameOf(folder: string): string {
  return folder.replace('platform/', '');
}

/** Patterns are those of .gitignore: the last that matches decides, `#` needs a backslash. */
function imports(paths: readonly string[], before = ''): string[] {
  return paths.map((path) => `${before}\\#${path}${path.endsWith('.ts') ? '' : '/**'}`);
}

function anyOf(names: readonly string[], before = ''): string {
  return `^${before}(?:${names.join('|')})(?:/|$)`;
}

function rowOf([folder, { mayImport, mayNotImport = [], mayImportTypes = [], packages }]: [string, Row]) {
  const allowed = [nameOf(folder), ...mayImport];
  const message = `${folder}/ may import ${[...mayImport, ...(packages ?? [])].join(', ') || 'nothing of ours'}.`;
  const patterns: object[] = [
    {
      regex: anyOf(Object.keys(devDependencies)),
      allowTypeImports: true,
      message: 'A development dependency, which no production image has.',
    },
  ];
  if (packages === undefined) {
    patterns.push({ group: [...imports(['*']), ...imports(allowed, '!'), ...imports(mayNotImport)], message });
  } else {
    // A group that permits an import permits it against all other patterns, so these are regular expressions.
    const others = FOLDERS.filter((name) => ![...allowed, ...mayImportTypes].includes(name));
    const foreign = Object.keys(dependencies).filter((name) => !packages.includes(name));
    patterns.push({ regex: anyOf(others, '#'), message }, { regex: `^node:|${anyOf(foreign)}`, message });
  }
  if (mayImportTypes.length > 0) {
    const byType = `${folder}/ may import ${mayImportTypes.join(', ')} by type only.`;
    patterns.push({ regex: anyOf(mayImportTypes, '#'), allowTypeImports: true, message: byType });
  }
  return restricted(folder, patterns);
}

function restricted(folder: string, patterns: object[]) {
  const rule: ['error', object] = ['error', { patterns }];
  return { files: [`${folder}/**`], rules: { 'no-restricted-imports': rule } };
}

export default defineConfig({
  plugins: ['import'],
  categories: { correctness: 'off' },
  // Packages of their own, what runs in browsers or before anything is installed, and the settings of tools.
  ignorePatterns: ['/*.ts', '**/*.js', '**/*.mjs', 'clients', 'bench/peers/engines', 'test/artifacts', '.data'],
  rules: {
    'import/no-cycle': ['error', { ignoreTypes: true }],
    'no-restricted-imports': [
      'error',
      { patterns: [{ group: ['**'], message: 'This folder has no row in the table of boundaries.' }] },
    ],
  },
  overrides: [
    ...Object.entries(PRODUCTION).map(rowOf),
    ...Object.entries(TOOLING).map(([folder, forbidden]) =>
      restricted(folder, [
        { group: imports(forbidden), message: `${folder}/ may not import ${forbidden.join(', ')}.` },
      ]),
    ),
  ],
});
