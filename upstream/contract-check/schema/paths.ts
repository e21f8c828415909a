/** Finds a call of the contract in the document. */
import { BASE_PATH, SANDBOX_SUFFIX } from '#domain/service/service-address.ts';
import { nearNames } from '#domain/text.ts';
import {
  at,
  entriesAt,
  isObject,
  listAt,
  resolved,
  type JsonObject,
} from '#upstream/contract-check/schema/document.ts';
import { pathOfServer } from '#upstream/contract-check/schema/servers.ts';
import { ENDPOINTS, type EndpointContract } from '#upstream/contract.ts';

/** A path of the document. */
interface TheirPath {
  /** As written in the document. */
  readonly path: string;
  /** Possible paths below `{base_url}`, likeliest first; parameters are written as `{}`. */
  readonly below: readonly string[];
  readonly item: unknown;
}

/** The paths of a document, prepared once for all calls. */
export function pathsOf(document: JsonObject): TheirPath[] {
  const prefixes = ['', ...listAt(document, 'servers').map(pathOfServer)];
  return entriesAt(document, 'paths').map(([path, item]) => {
    const full = prefixes.map((prefix) => belowBase(prefix + path));
    // A document of the sandbox may have its suffix in every path.
    const sandbox = full.filter((below) => below.startsWith(`${SANDBOX_SUFFIX}/`));
    return { path, below: [...full, ...sandbox.map((below) => below.slice(SANDBOX_SUFFIX.length))], item };
  });
}

/** The part of a path after `{base_url}`, whether or not the path spells that address out. */
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

/** The operation of a call in the document, or why it was not found. */
export type FoundCall =
  | { readonly found: true; readonly path: string; readonly item: unknown; readonly operation: JsonObject }
  | { readonly found: false; readonly message: string; readonly suggestions: readonly string[] };

/** @throws NotComparable */
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
