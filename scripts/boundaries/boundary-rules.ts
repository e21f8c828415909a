/**
 * The allowed imports between folders: the table of docs/architecture.md. Imports inside one folder are always allowed.
 */
import type { Import } from '#scripts/boundaries/import-graph.ts';

/** The two files of `workflows/` that workflows share with their callers. */
const MESSAGES = ['workflows/messages.ts', 'workflows/search-attributes.ts'];

interface Boundary {
  /** Folders (`domain/`) or single files that may be imported. */
  readonly mayImport: readonly string[];
  /** Folders and files that may be imported with `import type` only. */
  readonly mayImportTypes?: readonly string[];
  /** Packages that may be imported; anything in package.json when absent. */
  readonly packages?: readonly string[];
  /** True for code that is bundled into the workflow sandbox, which has no `node:` built-in. */
  readonly bundled?: true;
  /** True for folders outside production images: they may use development dependencies and import all our folders. */
  readonly tooling?: true;
}

const BOUNDARIES: Readonly<Record<string, Boundary>> = {
  domain: { mayImport: [], packages: ['big.js'], bundled: true },
  'platform/config': { mayImport: ['domain/'] },
  'platform/crypto': { mayImport: ['domain/'] },
  'platform/telemetry': { mayImport: ['platform/config/', 'domain/'] },
  upstream: { mayImport: ['domain/', 'platform/crypto/', 'platform/telemetry/'] },
  db: { mayImport: ['domain/', 'platform/crypto/', 'platform/telemetry/'] },
  fulfilment: { mayImport: ['domain/', 'db/', 'platform/crypto/', 'platform/telemetry/', 'upstream/'] },
  workflows: {
    mayImport: ['domain/'],
    mayImportTypes: ['activities/', 'fulfilment/purchase/results.ts'],
    packages: ['@temporalio/common', '@temporalio/workflow'],
    bundled: true,
  },
  activities: {
    mayImport: ['domain/', 'platform/crypto/', 'platform/telemetry/', 'upstream/', 'db/', 'fulfilment/', 'workflows/'],
  },
  'platform/temporal': {
    mayImport: ['platform/config/', 'platform/crypto/', 'domain/', 'platform/telemetry/', ...MESSAGES],
  },
  'platform/outbound': { mayImport: ['domain/', 'db/', 'platform/crypto/', 'platform/telemetry/'] },
  api: {
    mayImport: [
      'platform/config/',
      'platform/crypto/',
      'db/',
      'domain/',
      'fulfilment/',
      'platform/outbound/',
      'platform/telemetry/',
      'platform/temporal/',
      'upstream/',
      ...MESSAGES,
    ],
  },
  worker: {
    mayImport: [
      'activities/',
      'platform/config/',
      'platform/crypto/',
      'db/',
      'domain/',
      'fulfilment/',
      'platform/outbound/',
      'platform/telemetry/',
      'platform/temporal/',
      'upstream/',
      'workflows/',
    ],
  },
  simulator: { mayImport: ['platform/config/', 'upstream/contract.ts'] },
  cli: { mayImport: [], tooling: true },
  scripts: { mayImport: [], tooling: true },
  bench: { mayImport: [], tooling: true },
  test: { mayImport: [], tooling: true },
};

/** The folders that are checked. */
export const CHECKED_FOLDERS: readonly string[] = Object.keys(BOUNDARIES);

/** Folders of separate packages: they import none of our files. Only tests and the command line import them. */
export const PACKAGES_OF_THEIR_OWN: readonly string[] = ['clients'];

/** The packages under `dependencies` of package.json, and all its packages. */
export interface DeclaredPackages {
  readonly production: ReadonlySet<string>;
  readonly all: ReadonlySet<string>;
}

/** @returns why an import is forbidden; undefined when it is allowed. */
export function problemWith(entry: Import, declared: DeclaredPackages): string | undefined {
  const folder = folderOf(entry.from);
  const boundary = BOUNDARIES[folder];
  if (boundary === undefined) return `${folder}/ has no row in the table of boundaries`;

  switch (entry.target.kind) {
    case 'other':
      return 'import by subpath (#folder/file.ts, mapped in package.json), never by a relative path';
    case 'builtin':
      return boundary.bundled ? `${folder}/ is bundled into workflows, where no node: built-in exists` : undefined;
    case 'package':
      return problemWithPackage(entry, entry.target.name, boundary, declared);
    case 'file':
      if (!entry.target.exists && entry.kind !== 'reference') return `${entry.target.path} does not exist`;
      return problemWithFile(entry, entry.target.path, boundary);
  }
}

function problemWithFile({ from, kind }: Import, path: string, boundary: Boundary): string | undefined {
  const folder = folderOf(from);
  const target = folderOf(path);
  if (target === folder) return undefined;
  if (PACKAGES_OF_THEIR_OWN.includes(target))
    return ['cli', 'test'].includes(folder) ? undefined : 'only tests and the command line import a client';
  if (['test', 'bench'].includes(target)) {
    return ['test', 'bench'].includes(folder) ? undefined : 'only tests and measurements import tests and measurements';
  }
  if (boundary.tooling || covers(boundary.mayImport, path)) return undefined;
  if (covers(boundary.mayImportTypes ?? [], path)) {
    return kind === 'type' ? undefined : `${folder}/ may import ${target}/ by type only`;
  }
  return `${folder}/ may import ${boundary.mayImport.join(', ') || 'nothing of ours'}`;
}

function problemWithPackage(
  { from, kind }: Import,
  name: string,
  boundary: Boundary,
  declared: DeclaredPackages,
): string | undefined {
  const folder = folderOf(from);
  if (boundary.packages !== undefined && !boundary.packages.includes(name)) {
    return `${folder}/ may import no package but ${boundary.packages.join(', ')}`;
  }
  const usable = boundary.tooling || kind === 'type' ? declared.all : declared.production;
  if (usable.has(name)) return undefined;
  return declared.all.has(name)
    ? `${name} is a development dependency, which no production image has`
    : `${name} is not in package.json`;
}

function covers(allowed: readonly string[], path: string): boolean {
  return allowed.some((entry) => (entry.endsWith('/') ? path.startsWith(entry) : path === entry));
}

function folderOf(path: string): string {
  const [top = '', next = ''] = path.split('/');
  return top === 'platform' ? `${top}/${next}` : top;
}
