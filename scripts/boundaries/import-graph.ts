import { existsSync, globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { parseSync } from '@swc/core';

/** One import of one file. */
export interface Import {
  /** Path relative to the root, with forward slashes. */
  readonly from: string;
  readonly specifier: string;
  /**
   * `type` is removed before the code runs (`import type …`, but not an import that only lists `type X` in its braces).
   * `dynamic` is `import()`. `reference` is a subpath in a string, as in `import.meta.resolve('#folder/file.ts')`.
   */
  readonly kind: 'value' | 'dynamic' | 'type' | 'reference';
  readonly target: ImportTarget;
}

type ImportTarget =
  | { readonly kind: 'file'; readonly path: string; readonly exists: boolean }
  | { readonly kind: 'package'; readonly name: string }
  | { readonly kind: 'builtin' }
  /** `./…`, `../…` or `#…` that package.json does not map. */
  | { readonly kind: 'other' };

/** Paths of a folder's TypeScript files, relative to the root, without separate packages inside it. */
export function typeScriptFiles(root: string, folder: string): string[] {
  const found = globSync(`${folder}/**/*.ts`, {
    cwd: root,
    exclude: (path) => /(^|[\\/])node_modules$/.test(path) || existsSync(join(root, path, 'package.json')),
  });
  return found.map((path) => path.replaceAll('\\', '/')).toSorted();
}

/** @throws Error naming the file when it cannot be parsed. */
export function importsOf(root: string, file: string, subpaths: Subpaths): Import[] {
  const found: Omit<Import, 'from' | 'target'>[] = [];
  collect(parse(join(root, file), file), found);
  const direct = new Set(found.filter(({ kind }) => kind !== 'reference').map(({ specifier }) => specifier));
  return found
    .filter(({ kind, specifier }) => kind !== 'reference' || !direct.has(specifier))
    .map((entry) => ({ ...entry, from: file, target: targetOf(root, entry.specifier, subpaths) }));
}

/** The `imports` of package.json: `#folder/*` → `folder/`. */
export type Subpaths = ReadonlyMap<string, string>;

/** The subpath imports of package.json. */
export function readSubpaths(root: string): Subpaths {
  const { imports = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    imports?: Record<string, string>;
  };
  return new Map(
    Object.entries(imports).map(([from, to]) => [from.replace(/\*$/, ''), to.replace(/^\.\//, '').replace(/\*$/, '')]),
  );
}

/** Groups of files with circular imports. Type imports and references do not count. */
export function cycles(imports: readonly Import[]): string[][] {
  const edges = new Map<string, string[]>();
  for (const { from, kind, target } of imports) {
    if ((kind !== 'value' && kind !== 'dynamic') || target.kind !== 'file') continue;
    edges.set(from, [...(edges.get(from) ?? []), target.path]);
  }
  return stronglyConnected(edges);
}

function parse(path: string, name: string): unknown {
  try {
    return parseSync(readFileSync(path, 'utf8'), { syntax: 'typescript', target: 'es2024' });
  } catch (error) {
    throw new Error(`${name} cannot be parsed`, { cause: error });
  }
}

interface SyntaxNode {
  readonly type?: string;
  readonly [field: string]: unknown;
}

function collect(node: unknown, found: Omit<Import, 'from' | 'target'>[]): void {
  if (Array.isArray(node)) {
    for (const item of node) collect(item, found);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const own = importIn(node as SyntaxNode);
  if (own !== undefined) found.push(own);
  for (const child of Object.values(node)) collect(child, found);
}

function importIn(node: SyntaxNode): Omit<Import, 'from' | 'target'> | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration': {
      const specifier = textOf(node['source']);
      return specifier === undefined ? undefined : { specifier, kind: node['typeOnly'] === true ? 'type' : 'value' };
    }
    case 'TsImportType': {
      const specifier = textOf(node['argument']);
      return specifier === undefined ? undefined : { specifier, kind: 'type' };
    }
    case 'CallExpression': {
      if ((node['callee'] as SyntaxNode).type !== 'Import') return undefined;
      const [first] = node['arguments'] as { expression: unknown }[];
      const specifier = textOf(first?.expression);
      return specifier === undefined ? undefined : { specifier, kind: 'dynamic' };
    }
    case 'StringLiteral': {
      const specifier = textOf(node);
      return specifier !== undefined && /^#[a-z]+\/[\w/-]+\.ts$/.test(specifier)
        ? { specifier, kind: 'reference' }
        : undefined;
    }
    case undefined:
    default:
      return undefined;
  }
}

/** A string literal, or a template without placeholders. */
function textOf(node: unknown): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  const { type, value, quasis } = node as SyntaxNode;
  if (type === 'StringLiteral' && typeof value === 'string') return value;
  if (type === 'TemplateLiteral' && Array.isArray(quasis) && quasis.length === 1) {
    const { cooked } = quasis[0] as { cooked: unknown };
    return typeof cooked === 'string' ? cooked : undefined;
  }
  return undefined;
}

function targetOf(root: string, specifier: string, subpaths: Subpaths): ImportTarget {
  if (isBuiltin(specifier)) return { kind: 'builtin' };
  if (specifier.startsWith('#')) {
    const prefix = [...subpaths.keys()].find((candidate) => specifier.startsWith(candidate));
    if (prefix === undefined) return { kind: 'other' };
    const path = `${subpaths.get(prefix)}${specifier.slice(prefix.length)}`;
    return { kind: 'file', path, exists: existsSync(join(root, path)) };
  }
  if (/^[./]/.test(specifier)) return { kind: 'other' };
  const [scope = specifier, name] = specifier.split('/');
  return { kind: 'package', name: scope.startsWith('@') && name !== undefined ? `${scope}/${name}` : scope };
}

/** Tarjan's algorithm. Returns only components with a cycle. */
function stronglyConnected(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const components: string[][] = [];

  function visit(node: string): number {
    const own = index.size;
    index.set(node, own);
    low.set(node, own);
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!index.has(next)) low.set(node, Math.min(lowOf(node), visit(next)));
      else if (stack.includes(next)) low.set(node, Math.min(lowOf(node), index.get(next) ?? own));
    }
    if (lowOf(node) === own) {
      const component = stack.splice(stack.indexOf(node));
      if (component.length > 1 || edges.get(node)?.includes(node) === true) components.push(component);
    }
    return lowOf(node);
  }
  const lowOf = (node: string): number => low.get(node) ?? Number.POSITIVE_INFINITY;

  for (const node of edges.keys()) {
    if (!index.has(node)) visit(node);
  }
  return components;
}
