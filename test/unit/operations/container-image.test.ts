import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GUIDES } from '#api/site/guides.ts';
import { NODE_ARGUMENTS } from '#cli/start/supervisor.ts';
import { composeServices, PROJECT } from '#test/support/compose.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const dockerfile = readFileSync(join(PROJECT, 'Dockerfile'), 'utf8');
const allowed = readFileSync(join(PROJECT, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1));
const packages = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
  imports: Record<string, string>;
};

/** The Node.js that `npm ci` installs. */
const { version: NODE_VERSION } = JSON.parse(readFileSync(join(PROJECT, 'node_modules/node/package.json'), 'utf8')) as {
  version: string;
};

const ENTRIES = Object.values(composeServices()).flatMap(({ build, command }) =>
  build === undefined ? [] : (command?.slice(1, 2) ?? []),
);

/** Files and packages that a process loads at its start, without imports on demand and of types. */
function loadedBy(entry: string): { files: string[]; packages: string[] } {
  const files = new Set([entry]);
  const names = new Set<string>();
  for (const file of files) {
    const text = readFileSync(join(PROJECT, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/^(?:import|export) (?!type )(?:[\w$*{}\s,]+ from )?'([^']+)'/gm)) {
      const [, top, rest] = /^(#[a-z]+\/)(.+)$/.exec(name) ?? [];
      if (top !== undefined) files.add(`${(packages.imports[`${top}*`] ?? '').slice(2, -1)}${rest}`);
      else if (!name.startsWith('node:')) names.add(/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
    }
  }
  return { files: [...files], packages: [...names] };
}

describe('the container image', () => {
  it('contains only the files in .dockerignore, and no tests, data or secrets', () => {
    expect(readFileSync(join(PROJECT, '.dockerignore'), 'utf8')).toMatch(/^\*$/m);
    for (const path of ['test', 'bench', 'docs', '.data', '.env', 'node_modules', 'scripts'])
      expect(allowed).not.toContain(path);
  });

  it('contains the documents that the documentation site shows', () => {
    expect(GUIDES.filter(({ source }) => typeof source === 'string' && !allowed.includes(source))).toEqual([]);
  });

  it('runs as a user without privileges, on the Node.js of this project', () => {
    const lines = dockerfile.split('\n');
    const last = (instruction: string) => lines.findLastIndex((line) => line.startsWith(instruction));

    expect(lines[last('USER')]).toBe('USER node');
    expect(last('USER')).toBeGreaterThan(last('COPY'));
    expect(lines.filter((line) => line.startsWith('FROM'))).toEqual([
      `FROM node:${NODE_VERSION}-slim AS dependencies`,
      `FROM node:${NODE_VERSION}-slim`,
    ]);
  });

  it('contains the certificates of the system, for TLS of the native client', () => {
    expect(dockerfile).toMatch(/^RUN apt-get update && apt-get install .*ca-certificates/m);
  });

  it('can be read by its user when the checkout had umask 077', () => {
    const command = /find \. -path .*chmod go\+rX \{\} \+/.exec(dockerfile)?.[0] ?? '';
    const folder = temporaryFolder('image');
    mkdirSync(join(folder, 'api'), { mode: 0o700 });
    writeFileSync(join(folder, 'api/main.ts'), '', { mode: 0o600 });
    execFileSync('sh', ['-c', command], { cwd: folder });
    expect(statSync(join(folder, 'api')).mode & 0o777).toBe(0o755);
    expect(statSync(join(folder, 'api/main.ts')).mode & 0o777).toBe(0o644);
    removeFolder(folder);
  });

  it('limits memory like `npm start`', () => {
    expect(dockerfile).toContain(`NODE_OPTIONS="${NODE_ARGUMENTS.join(' ')}"`);
    expect(dockerfile).toContain('MALLOC_ARENA_MAX=2');
  });

  it('has a command for each process of the compose file', () => {
    expect(ENTRIES.toSorted()).toEqual(
      [
        'cli/main.ts',
        'api/main.ts',
        'worker/main.ts',
        'platform/temporal/codec-server-main.ts',
        'platform/temporal/ui-proxy-main.ts',
        'simulator/main.ts',
      ].toSorted(),
    );
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
