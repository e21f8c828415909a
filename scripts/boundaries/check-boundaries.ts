/**
 * Checks the import directions of the whole tree: `npm run check:boundaries`. A parser that finds no imports would
 * report no errors, so the check also fails for a file whose text contains an import but for which none was found. It
 * prints the numbers of files and imports.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CHECKED_FOLDERS,
  PACKAGES_OF_THEIR_OWN,
  problemWith,
  type DeclaredPackages,
} from '#scripts/boundaries/boundary-rules.ts';
import { cycles, importsOf, readSubpaths, typeScriptFiles, type Import } from '#scripts/boundaries/import-graph.ts';

/** The result of the check. */
export interface BoundaryReport {
  readonly files: number;
  readonly imports: number;
  /** Number of TypeScript files by folder. */
  readonly filesByFolder: Readonly<Record<string, number>>;
  /** One line for each problem. */
  readonly problems: readonly string[];
}

/** With fewer files, the check probably runs in the wrong folder. */
const PLAUSIBLE_FILES = 30;

/** @param root the project's root, absolute. */
export function checkBoundaries(root: string): BoundaryReport {
  const folders = CHECKED_FOLDERS.map((folder) => ({ folder, files: typeScriptFiles(root, folder) }));
  const files = folders.flatMap((folder) => folder.files);
  const subpaths = readSubpaths(root);
  const declared = readDeclaredPackages(root);
  const unreadable: string[] = [];
  const seen = files.flatMap((file) => {
    try {
      return [{ file, imports: importsOf(root, file, subpaths) }];
    } catch (error) {
      unreadable.push(error instanceof Error ? error.message : String(error));
      return [];
    }
  });
  const imports = seen.flatMap((entry) => entry.imports);

  const unknown = unlistedFolders(root).map(
    (folder) => `${folder}/ holds TypeScript but has no row in the table of boundaries`,
  );
  const tooFew =
    files.length < PLAUSIBLE_FILES ? [`only ${files.length} TypeScript files under ${root}: wrong folder?`] : [];
  const blind = seen
    .filter(({ file, imports: own }) => own.length === 0 && looksLikeItImports(join(root, file)))
    .map(({ file }) => `${file}: its text holds an import, but none was seen`);
  const forbidden = imports.flatMap((entry) => {
    const problem = problemWith(entry, declared);
    return problem === undefined ? [] : [`${entry.from} → ${entry.specifier}: ${problem}`];
  });
  const circles = cycles(imports).map((circle) => `${circle.join(' → ')}: files import each other in a circle`);

  return {
    files: files.length,
    imports: imports.length,
    filesByFolder: Object.fromEntries(
      folders.map((entry) => [entry.folder, entry.files.length] as const).filter(([, n]) => n > 0),
    ),
    problems: [...tooFew, ...unknown, ...unreadable, ...blind, ...forbidden, ...callsOfApi(imports), ...circles],
  };
}

/**
 * The API answers from PostgreSQL: it imports no use case that calls the service. Such a use case knows the client of
 * the service, if only as the type of a parameter.
 */
function callsOfApi(imports: readonly Import[]): string[] {
  const edges = imports.flatMap(({ from, kind, target }) =>
    target.kind === 'file' && from.startsWith('fulfilment/') ? [{ from, kind, to: target.path }] : [],
  );
  const calling = new Set(edges.filter(({ to }) => to.startsWith('upstream/client')).map(({ from }) => from));
  for (const file of calling)
    for (const { from, kind, to } of edges) if (to === file && kind !== 'type') calling.add(from);
  return imports.flatMap(({ from, kind, target }) =>
    from.startsWith('api/') && kind !== 'type' && target.kind === 'file' && calling.has(target.path)
      ? [`${from} → ${target.path}: api/ may not import a use case that calls the service`]
      : [],
  );
}

function unlistedFolders(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .map(({ name }) => name)
    .filter(
      (name) =>
        !CHECKED_FOLDERS.includes(name) &&
        !PACKAGES_OF_THEIR_OWN.includes(name) &&
        name !== 'platform' &&
        typeScriptFiles(root, name).length > 0,
    );
}

function readDeclaredPackages(root: string): DeclaredPackages {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
  };
  const production = Object.keys(dependencies);
  return { production: new Set(production), all: new Set([...production, ...Object.keys(devDependencies)]) };
}

function looksLikeItImports(path: string): boolean {
  return /^(?:import|export)\s[^'"]*\bfrom\s*['"]|^import\s*['"]/m.test(readFileSync(path, 'utf8'));
}

if (import.meta.main) {
  const report = checkBoundaries(process.cwd());
  for (const problem of report.problems) console.error(problem);
  const folders = Object.entries(report.filesByFolder).map(([folder, count]) => `${folder} ${count}`);
  console.log(`Boundaries: ${report.files} files and ${report.imports} imports seen (${folders.join(', ')}).`);
  console.log(report.problems.length === 0 ? 'No forbidden import.' : `${report.problems.length} problems.`);
  if (report.problems.length > 0) process.exitCode = 1;
}
