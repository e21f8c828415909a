/** Compares the base address of a document, and the version of the interface in it. */
import { BASE_PATH, SANDBOX_SUFFIX } from '#domain/service/service-address.ts';
import type { Findings } from '#upstream/contract-check/findings.ts';
import { at, entriesAt, isObject, listAt, textAt, type JsonObject } from '#upstream/contract-check/schema/document.ts';

/** The path of a server's address, which may be relative. Variables without a default stay unchanged. */
export function pathOfServer(server: unknown): string {
  const url = textAt(server, 'url') ?? '';
  const filled = url.replaceAll(/\{([^}]*)\}/g, (variable, name: string) => {
    return textAt(at(at(server, 'variables'), name), 'default') ?? variable;
  });
  const path = filled
    .replace(/^(?:[^/]*:)?\/\/[^/]*/, '')
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '');
  // Relative to the address of the document, which a file does not tell.
  if (path === '' || path.startsWith('.')) return '';
  return /^[/{]/.test(path) ? path : `/${path}`;
}

/**
 * Reports servers of another version of the interface. One server that fits is enough: others may serve old versions.
 *
 * @param holder the object with the servers: the document, a path or an operation.
 * @param paths the paths below these servers.
 */
export function compareServers(findings: Findings, holder: unknown, paths: readonly string[]): void {
  const servers = listAt(holder, 'servers').filter((server) => textAt(server, 'url') !== undefined);
  const bases = servers.map(pathOfServer);
  const fits = (base: string) => isBase(base) || paths.some((path) => (base + path).includes(`${BASE_PATH}/`));
  if (bases.length === 0 || bases.some(fits)) return;
  const wrong = bases.find((base) => !BASE_PATH.endsWith(withoutSandbox(base)));
  if (wrong !== undefined) {
    return findings.breaking('servers', undefined, `have the path ${wrong}, and our calls go to ${BASE_PATH}`);
  }
  // Only a note: a proxy in front may add the missing part.
  const part = bases.find((base) => base !== '');
  if (part !== undefined) {
    findings.note('servers', undefined, `have the path ${part} only, and our calls go to ${BASE_PATH}`);
  } else if (servers.some((server) => /^[^/]*\/\//.test(textAt(server, 'url') ?? ''))) {
    findings.note('servers', undefined, `do not name ${BASE_PATH}, where our calls go`);
  }
}

function isBase(path: string): boolean {
  // A variable without a default may have any value.
  return path.includes('{') || withoutSandbox(path).endsWith(BASE_PATH);
}

function withoutSandbox(path: string): string {
  return path.endsWith(SANDBOX_SUFFIX) ? path.slice(0, -SANDBOX_SUFFIX.length) : path;
}

/** Reports servers of one path or operation that are of another version. */
export function compareOwnServers(findings: Findings, path: string, item: unknown, operation: JsonObject): void {
  const holder = [operation, item].find((each) => isObject(each) && listAt(each, 'servers').length > 0);
  if (holder !== undefined) compareServers(findings, holder, [path]);
}

/** The paths of a document, as written there. */
export function writtenPaths(document: JsonObject): readonly string[] {
  return entriesAt(document, 'paths').map(([path]) => path);
}
