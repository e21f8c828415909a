import { describe, expect, it } from 'vitest';
import { composeServices, readProject } from '#test/support/compose.ts';

const allowed = [...readProject('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, path = '']) => path);
const packages = JSON.parse(readProject('package.json')) as {
  dependencies: Record<string, string>;
  imports: Record<string, string>;
};

/** The Node.js that `npm ci` installs. */
const { version: NODE_VERSION } = JSON.parse(readProject('node_modules/node/package.json')) as { version: string };

const ENTRIES = Object.values(composeServices()).flatMap(({ build, command }) =>
  build === undefined ? [] : (command?.slice(1, 2) ?? []),
);

/** Files and packages that a process loads at its start, without imports on demand and of types. */
function loadedBy(entry: string): { files: string[]; packages: string[] } {
  const imported = /^(?:import|export) (?!type )(?:[\w$*{}\s,]+ from )?'([^']+)'/gm;
  const files = new Set([entry]);
  const names = new Set<string>();
  for (const file of files) {
    for (const [, name = ''] of readProject(file).matchAll(imported)) {
      const [, top, rest] = /^(#[a-z]+\/)(.+)$/.exec(name) ?? [];
      if (top !== undefined) files.add(`${(packages.imports[`${top}*`] ?? '').slice(2, -1)}${rest}`);
      else if (!name.startsWith('node:')) names.add(/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
    }
  }
  return { files: [...files], packages: [...names] };
}

describe('the container image', () => {
  it('contains only the files in .dockerignore, and no tests, data or secrets', () => {
    expect(readProject('.dockerignore')).toMatch(/^\*$/m);
    for (const path of ['test', 'bench', 'docs', '.data', '.env', 'node_modules', 'scripts'])
      expect(allowed).not.toContain(path);
  });

  it('runs as a user without privileges, on the Node.js of this project', () => {
    const lines = readProject('Dockerfile').split('\n');
    const last = (instruction: string) => lines.findLastIndex((line) => line.startsWith(instruction));
    expect(lines[last('USER')]).toBe('USER node');
    expect(last('USER')).toBeGreaterThan(last('COPY'));
    expect(lines.filter((line) => line.startsWith('FROM'))).toEqual([
      `FROM node:${NODE_VERSION}-slim AS dependencies`,
      `FROM node:${NODE_VERSION}-slim`,
    ]);
  });

  it.each([...ENTRIES, 'cli/set-up/command-database.ts', 'cli/access/keys.ts', 'workflows/index.ts'])(
    'has every file and package that %s loads',
    (entry) => {
      const loaded = loadedBy(entry);
      expect(loaded.files.filter((file) => !allowed.some((path) => file.startsWith(`${path}/`)))).toEqual([]);
      expect(loaded.packages.filter((name) => !Object.hasOwn(packages.dependencies, name))).toEqual([]);
    },
  );
});
