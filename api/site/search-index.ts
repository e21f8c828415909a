import type { Operation } from '#api/http/operation.ts';
import type { Guide } from '#api/site/guides.ts';
import type { RenderedGuide } from '#api/site/markdown.ts';

/** A place that the search of the site finds. */
export interface SearchEntry {
  readonly title: string;
  /** The guide or the method and path. */
  readonly where: string;
  /** Relative to `/docs`. */
  readonly href: string;
  /** More words by which it is found. */
  readonly text: string;
  /** The section explains a code of an error. */
  readonly code?: true;
}

/** Maximum number of letters of a section that are searched. */
const SEARCHED = 1_500;

/** Where of a whole guide; its entries come before others with the same words. */
const PAGE = 'Guide';

/** Entries for each section of the guides and for each call. */
export function searchIndex(
  guides: readonly (Guide & RenderedGuide)[],
  operations: readonly Operation[],
): SearchEntry[] {
  // A section with a page of its own is found there.
  const own = new Set(guides.map(({ section }) => section));
  return [
    ...guides.flatMap(sectionsOf).filter(({ title, where }) => where === PAGE || !own.has(title)),
    ...operations.map(callEntry),
  ];
}

function sectionsOf({ name, title, html, headings }: Guide & RenderedGuide): SearchEntry[] {
  const parts = html.split(/<h[23] id="/);
  const first = { title, where: PAGE, href: `guides/${name}`, text: wordsOf(parts[0] ?? '') };
  const sections = headings.map(({ id, text, level }, index) => ({
    title: text,
    where: title,
    href: `guides/${name}#${id}`,
    text: wordsOf(parts[index + 1] ?? ''),
    ...(name === 'errors' && level === 3 ? { code: true as const } : {}),
  }));
  return [first, ...sections];
}

function callEntry({ id, method, path, tag, summary }: Operation): SearchEntry {
  const href = `reference#tag/${slug(tag)}/${method.toUpperCase()}${path}`;
  return { title: summary, where: `${method.toUpperCase()} ${path}`, href, text: `${id} ${tag}` };
}

/** The name of a tag in the addresses of the reference. */
function slug(tag: string): string {
  return tag.toLowerCase().replaceAll(' ', '-');
}

function wordsOf(html: string): string {
  return html
    .replaceAll(/<pre>[\s\S]*?<\/pre>/g, ' ')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&\w+;|\s+/g, ' ')
    .slice(0, SEARCHED);
}
