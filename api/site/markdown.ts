import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { escapeHtml } from '#api/http/html.ts';
import type { Operation } from '#api/http/operation.ts';
import { type Guide, GUIDES } from '#api/site/guides.ts';

export interface RenderedGuide {
  readonly html: string;
  /** Its headings of the second and third level, in their order. */
  readonly headings: readonly Heading[];
}

interface Heading {
  readonly id: string;
  readonly text: string;
  readonly level: number;
}

/** Where `npm start` serves the site. Links of documents to it lead to the site that shows them. */
const SITE = 'http://127.0.0.1:3000/docs';

/**
 * Renders a document of the project. Links to other guides lead to their pages; links to files that the site does not
 * show become plain text with the path of the file.
 *
 * @param file path of the document, relative to the project.
 * @param docs address of `/docs`, relative to the page.
 */
export function renderMarkdown(markdown: string, file: string, docs: string): RenderedGuide {
  const headings: Heading[] = [];
  const ids = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading): string {
        const html = this.parser.parseInline(tokens);
        const text = plainText(html);
        const id = uniqueId(slugOf(text), ids);
        if (depth === 2 || depth === 3) headings.push({ id, text, level: depth });
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${id}">${html}${anchor}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href, file, docs);
        if (target.href === undefined)
          return `<span class="file" title="In the repository: ${escapeHtml(target.path)}">${text}</span>`;
        return `<a href="${escapeHtml(target.href)}">${text}</a>`;
      },
      image({ text }: Tokens.Image): string {
        return escapeHtml(text);
      },
      // The documents are our own, but no markup of theirs reaches the page unchecked.
      html({ text }: Tokens.HTML | Tokens.Tag): string {
        return /^<!--[\s\S]*?-->\s*$/.test(text) ? '' : /^<br>$/.test(text.trim()) ? '<br>' : escapeHtml(text);
      },
    },
  });
  const html = marked
    .parse(markdown, { async: false })
    .replaceAll('<table>', '<div class="table"><table>')
    .replaceAll('</table>', '</table></div>');
  return { html, headings };
}

function targetOf(
  href: string,
  file: string,
  docs: string,
): { readonly href: string } | { readonly href?: undefined; readonly path: string } {
  if (href.startsWith(`${SITE}/`)) return { href: docs + href.slice(SITE.length) };
  if (/^(?:https?:|mailto:|#)/.test(href)) return { href };
  const [path = '', fragment] = href.split('#');
  const resolved = posix.normalize(posix.join(posix.dirname(file), path));
  const guide = GUIDES.find((each) => each.source === resolved && each.section === undefined);
  if (guide === undefined) return { path: resolved };
  return { href: `${docs}/guides/${guide.name}${fragment === undefined ? '' : `#${fragment}`}` };
}

/** The id of a heading as GitHub makes it, so that links between the documents work in both places. */
function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function uniqueId(slug: string, ids: Map<string, number>): string {
  const used = ids.get(slug) ?? 0;
  ids.set(slug, used + 1);
  return used === 0 ? slug : `${slug}-${used}`;
}

function plainText(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/** Maximum number of letters of a section that are searched. */
const SEARCHED = 1_500;

/** Where of a whole guide; its entries come before others with the same words. */
const PAGE = 'Guide';

/** Entries for each section of the guides and for each call, with more words by which it is found. */
export function searchIndex(guides: readonly (Guide & RenderedGuide)[], operations: readonly Operation[]) {
  // A section with a page of its own is found there.
  const own = new Set(guides.map(({ section }) => section));
  return [
    ...guides.flatMap(sectionsOf).filter(({ title, where }) => where === PAGE || !own.has(title)),
    ...operations.map(callEntry),
  ];
}

function sectionsOf({ name, title, html, headings }: Guide & RenderedGuide) {
  const parts = html.split(/<h[23] id="/);
  const first = { title, where: PAGE, href: `guides/${name}`, text: wordsOf(parts[0] ?? '') };
  const sections = headings.map(({ id, text, level }, index) => ({
    title: text,
    where: title,
    href: `guides/${name}#${id}`,
    text: wordsOf(parts[index + 1] ?? ''),
    // The section explains a code of an error.
    ...(name === 'errors' && level === 3 ? { code: true } : {}),
  }));
  return [first, ...sections];
}

function callEntry({ id, method, path, tag, summary }: Operation) {
  const tagInAddress = tag.toLowerCase().replaceAll(' ', '-');
  const href = `reference#tag/${tagInAddress}/${method.toUpperCase()}${path}`;
  return { title: summary, where: `${method.toUpperCase()} ${path}`, href, text: `${id} ${tag}` };
}

function wordsOf(html: string): string {
  return html
    .replaceAll(/<pre>[\s\S]*?<\/pre>/g, ' ')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&\w+;|\s+/g, ' ')
    .slice(0, SEARCHED);
}
