import { BASE_PATH, SANDBOX_SUFFIX } from '#domain/service/service-address.ts';
import { nearNames } from '#domain/text.ts';
import {
  type JsonObject,
  at,
  entriesAt,
  isObject,
  listAt,
  resolved,
  textAt,
} from '#upstream/contract-check/document.ts';
import type { Findings } from '#upstream/contract-check/findings.ts';
import { ENDPOINTS, type EndpointContract } from '#upstream/contract.ts';

interface TheirPath {
  readonly path: string;
  /** The likeliest path is first; parameters are written as `{}`. */
  readonly below: readonly string[];
  readonly item: unknown;
}

export function pathsOf(document: JsonObject): TheirPath[] {
  const prefixes = ['', ...listAt(document, 'servers').map(pathOfServer)];
  return entriesAt(document, 'paths').map(([path, item]) => {
    const full = prefixes.map((prefix) => belowBase(prefix + path));
    // A document of the sandbox may have its suffix in every path.
    const sandbox = full.filter((below) => below.startsWith(`${SANDBOX_SUFFIX}/`));
    return { path, below: [...full, ...sandbox.map((below) => below.slice(SANDBOX_SUFFIX.length))], item };
  });
}

function belowBase(path: string): string {
  const base = path.lastIndexOf(BASE_PATH);
  const below = base === -1 ? path.replace(/^\/?\{(?:base|sandbox)_?url\}/i, '') : path.slice(base + BASE_PATH.length);
  return normal(below);
}

function normal(path: string): string {
  return `/${path}`
    .replaceAll(/\{[^}]*\}/g, '{}')
    .replaceAll(/\/{2,}/g, '/')
    .replace(/(.)\/$/, '$1');
}

export type FoundCall =
  | { readonly found: true; readonly path: string; readonly item: unknown; readonly operation: JsonObject }
  | { readonly found: false; readonly message: string; readonly suggestions: readonly string[] };

export function findCall(document: JsonObject, paths: readonly TheirPath[], contract: EndpointContract): FoundCall {
  const wanted = normal(contract.path);
  const method = contract.method.toLowerCase();
  const same = paths
    .filter(({ below }) => below.includes(wanted))
    .toSorted((left, right) => left.below.indexOf(wanted) - right.below.indexOf(wanted));
  for (const { path, item } of same) {
    const whole = resolved(document, item);
    const operation = resolved(document, at(whole, method));
    if (isObject(operation)) return { found: true, path, item: whole, operation };
  }
  if (same.length > 0) {
    const methods = METHODS.filter((name) => same.some(({ item }) => at(resolved(document, item), name) !== undefined));
    const others = methods.map((name) => name.toUpperCase()).join(', ');
    const message = `is not in the document with ${contract.method}${others && `, only with ${others}`}`;
    return { found: false, message, suggestions: [] };
  }
  const strangers = paths.filter(({ below }) => !below.some((form) => OUR_PATHS.has(form)));
  const names = new Map(strangers.flatMap(({ path, below }) => below.map((form) => [form, path] as const)));
  const near = nearNames(wanted, names.keys()).map((form) => names.get(form) ?? form);
  return { found: false, message: 'is not in the document', suggestions: [...new Set(near)] };
}

const OUR_PATHS: ReadonlySet<string> = new Set(Object.values(ENDPOINTS).map(({ path }) => normal(path)));

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];

/** Variables without a default stay unchanged. */
function pathOfServer(server: unknown): string {
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

/** One server that fits is enough: others may serve old versions. */
export function compareServers(findings: Findings, holder: unknown, paths: readonly string[]): void {
  const servers = listAt(holder, 'servers').filter((server) => textAt(server, 'url') !== undefined);
  const bases = servers.map(pathOfServer);
  // A variable without a default may have any value.
  const isBase = (base: string) => base.includes('{') || withoutSandbox(base).endsWith(BASE_PATH);
  const fits = (base: string) => isBase(base) || paths.some((path) => (base + path).includes(`${BASE_PATH}/`));
  if (bases.length === 0 || bases.some(fits)) return;
  const wrong = bases.find((base) => !BASE_PATH.endsWith(withoutSandbox(base)));
  if (wrong !== undefined) {
    return findings.breaking('servers', undefined, `have the path ${wrong}, and our calls go to ${BASE_PATH}`);
  }
  // A note: a proxy in front may add the missing part.
  const part = bases.find((base) => base !== '');
  if (part !== undefined) {
    findings.note('servers', undefined, `have the path ${part} only, and our calls go to ${BASE_PATH}`);
  } else if (servers.some((server) => /^[^/]*\/\//.test(textAt(server, 'url') ?? ''))) {
    findings.note('servers', undefined, `do not name ${BASE_PATH}, where our calls go`);
  }
}

function withoutSandbox(path: string): string {
  return path.endsWith(SANDBOX_SUFFIX) ? path.slice(0, -SANDBOX_SUFFIX.length) : path;
}

export function compareOwnServers(findings: Findings, path: string, item: unknown, operation: JsonObject): void {
  const holder = [operation, item].find((each) => listAt(each, 'servers').length > 0);
  if (holder !== undefined) compareServers(findings, holder, [path]);
}
