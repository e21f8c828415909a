export type Continuation =
  | { readonly kind: 'end' }
  | { readonly kind: 'next'; readonly query: Readonly<Record<string, string>> }
  /** There may be more. An item missing from such a list proves nothing. */
  | { readonly kind: 'unknown' };

export interface ReceivedPage {
  readonly layers: readonly Readonly<Record<string, unknown>>[];
  /** Unreadable ones included. */
  readonly count: number;
  readonly readSoFar: number;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly path: string;
  readonly linkHeader: string | undefined;
  readonly isLinked: boolean;
}

const HOLDERS = ['meta', 'pagination', 'paging', 'page_info', 'pageInfo', 'links', '_links'];

const CURSORS = ['next_cursor', 'nextCursor', 'next_page_token', 'nextPageToken'];
const NEXT_LINKS = ['next', 'next_page_url', 'next_url', 'nextUrl'];
const PAGES = ['current_page', 'currentPage', 'page', 'page_number'];
const LAST_PAGES = ['last_page', 'lastPage', 'total_pages', 'totalPages', 'page_count', 'pages'];
const PAGE_SIZES = ['per_page', 'perPage', 'page_size', 'pageSize'];
const TOTALS = ['total', 'total_count', 'totalCount', 'total_items', 'totalItems'];
const MORE = ['has_more', 'hasMore'];

/** When two forms of paging disagree, or none is present, the continuation is unknown. */
export function continuationOf(page: ReceivedPage): Continuation {
  const said = fieldsOf(page.layers);
  const answers = [byCursor, byLink, byLinkHeader, byPage, byOffset, byFlag]
    .map((read) => read(said, page))
    .filter((answer) => answer !== undefined);
  const next = answers.find((answer) => answer.kind === 'next');
  const kinds = new Set(answers.map(({ kind }) => kind));
  if (next !== undefined && !kinds.has('end')) return next;
  return kinds.size === 1 && kinds.has('end') ? END : UNKNOWN;
}

const END: Continuation = { kind: 'end' };
const UNKNOWN: Continuation = { kind: 'unknown' };

type Said = ReadonlyMap<string, unknown>;
type Reader = (said: Said, page: ReceivedPage) => Continuation | undefined;

function fieldsOf(layers: ReceivedPage['layers']): Said {
  const said = new Map<string, unknown>();
  const add = (fields: object) => {
    for (const [name, value] of Object.entries(fields)) if (!said.has(name)) said.set(name, value);
  };
  for (const layer of layers) {
    for (const name of HOLDERS) {
      const holder = Object.hasOwn(layer, name) ? layer[name] : undefined;
      if (typeof holder === 'object' && holder !== null && !Array.isArray(holder)) add(holder);
    }
    add(layer);
  }
  return said;
}

function first(said: Said, names: readonly string[]): unknown {
  const name = names.find((each) => said.has(each));
  return name === undefined ? undefined : said.get(name);
}

function whole(said: Said, names: readonly string[]): number | undefined {
  const value = first(said, names);
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
}

const byCursor: Reader = (said) => {
  const cursor = first(said, CURSORS);
  if (cursor === undefined) return undefined;
  if (cursor === null || cursor === '') return END;
  return typeof cursor === 'string' && cursor.length <= 2_048 ? { kind: 'next', query: { cursor } } : UNKNOWN;
};

const byLink: Reader = (said, { path }) => {
  const next = first(said, NEXT_LINKS);
  if (next === undefined) return undefined;
  if (next === null) return END;
  const link = typeof next === 'object' && 'href' in next ? next.href : next;
  return typeof link === 'string' ? followed(link, path) : UNKNOWN;
};

const byLinkHeader: Reader = (_said, { linkHeader, isLinked, path, query }) => {
  if (linkHeader === undefined) return isLinked ? END : undefined;
  const links = linksOf(linkHeader);
  const next = targetOf(links, 'next');
  if (next !== undefined) return followed(next, path);
  const last = targetOf(links, 'last');
  if (last !== undefined) return isRequested(last, query) ? END : UNKNOWN;
  // The header of the last page may contain only links backwards.
  return links.some(({ rels }) => rels.includes('first') || rels.includes('prev')) ? END : undefined;
};

interface Link {
  readonly target: string;
  readonly rels: readonly string[];
}

/** Services name a handful of links: longer headers are ignored. */
const MOST_OF_A_HEADER = 8_192;
const LINK = /<([^<>]*)>((?:\s*;\s*[a-z*-]+\s*=\s*(?:"[^"]*"|[^",;\s]*))*)/gi;
const REL = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]*))/i;

function linksOf(header: string): readonly Link[] {
  if (header.length > MOST_OF_A_HEADER) return [];
  return [...header.matchAll(LINK)].map(([, target = '', parameters = '']) => {
    const [, quoted, bare = ''] = REL.exec(parameters) ?? [];
    const rels = (quoted ?? bare).toLowerCase().replaceAll("'", '').split(/\s+/);
    return { target, rels };
  });
}

function targetOf(links: readonly Link[], rel: string): string | undefined {
  return links.find(({ rels }) => rels.includes(rel))?.target;
}

export function lastPageOf(linkHeader: string): string | undefined {
  return targetOf(linksOf(linkHeader), 'last');
}

export function hasNextLink(linkHeader: string): boolean {
  return targetOf(linksOf(linkHeader), 'next') !== undefined;
}

/** The first page may be asked for without a number. */
export function isRequested(target: string, query: ReceivedPage['query']): boolean {
  const url = URL.parse(target, 'http://last.invalid/');
  if (url === null) return false;
  return [...url.searchParams].every(([name, value]) => (query[name] ?? (name === 'page' ? '1' : undefined)) === value);
}

const byPage: Reader = (said, { query }) => {
  const size = whole(said, PAGE_SIZES);
  const total = whole(said, TOTALS);
  const last = whole(said, LAST_PAGES) ?? (size && total !== undefined ? Math.ceil(total / size) : undefined);
  if (last === undefined) return undefined;
  const asked = query['page'] === undefined ? 1 : Number(query['page']);
  const current = whole(said, PAGES);
  // Without the asked number, the page does not show that the service reads the parameter.
  if (current !== asked) return current === undefined && last <= 1 && asked === 1 ? END : UNKNOWN;
  return current >= last ? END : { kind: 'next', query: { page: String(current + 1) } };
};

const byOffset: Reader = (said, { count, readSoFar: read }) => {
  const all = whole(said, TOTALS);
  if (all === undefined) return undefined;
  if (read === all) return END;
  // More items than the total: the number counts something else.
  if (read > all) return UNKNOWN;
  const offset = whole(said, ['offset', 'skip']);
  if (offset === undefined || count === 0 || offset + count !== read) return UNKNOWN;
  return { kind: 'next', query: { [said.has('offset') ? 'offset' : 'skip']: String(read) } };
};

const byFlag: Reader = (said) => {
  const more = first(said, MORE);
  if (more === undefined) return undefined;
  return more === false ? END : UNKNOWN;
};

const LONGEST_LINK = 8_192;

/** Only the query, and only to the same call: data of the service must never choose the address of a request. */
function followed(link: string, path: string): Continuation {
  // The expressions below take the square of its length.
  if (link.length > LONGEST_LINK) return UNKNOWN;
  let url: URL;
  try {
    url = new URL(link, 'http://next.invalid/');
  } catch {
    return UNKNOWN;
  }
  const isSameCall = link.startsWith('?') || decoded(url.pathname).replace(/\/+$/, '').endsWith(path);
  if (!isSameCall || url.search.length < 2 || url.search.length > 4_096) return UNKNOWN;
  return { kind: 'next', query: Object.fromEntries(url.searchParams) };
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
