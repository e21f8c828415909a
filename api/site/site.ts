import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import * as z from 'zod';
import { type Operation, publicOperation } from '#api/http/operation.ts';
import { CacheableReply } from '#api/http/reply.ts';
import { PAGE_POLICY } from '#api/http/request-context.ts';
import { Problem } from '#api/problems/problem.ts';
import { type Guide, GUIDES } from '#api/site/guides.ts';
import { type RenderedGuide, renderMarkdown, searchIndex } from '#api/site/markdown.ts';
import { guidePage, homePage, referencePage } from '#api/site/pages.ts';
import { exampleIds, referenceDocument } from '#api/site/reference-document.ts';
import { scalarBundle } from '#api/site/scalar-bundle.ts';

const tag = 'Documentation';
const HTML = { 200: { description: 'The page.', contentType: 'text/html' } } as const;

/** The documentation site: guides, and the reference with a client. */
export function siteOperations(options: SiteOptions): Operation[] {
  const files = new SiteFiles(options);
  return [
    publicOperation({
      id: 'getDocs',
      method: 'get',
      path: '/docs',
      tag,
      summary: 'The documentation site',
      description: 'For people: guides, and all calls with examples. It loads nothing from other hosts.',
      answers: HTML,
      handle: async ({ header }) => (await files.home()).for(header),
    }),
    publicOperation({
      id: 'getDocsReference',
      method: 'get',
      path: '/docs/reference',
      tag,
      summary: 'This description as a page with a client',
      description: 'Requests can be sent from the page.',
      answers: HTML,
      handle: async ({ header }) => (await files.reference()).for(header),
    }),
    publicOperation({
      id: 'getDocsGuide',
      method: 'get',
      path: '/docs/guides/{name}',
      tag,
      summary: 'A guide of the documentation site',
      description: 'One of the documents of the project, with the navigation of all guides.',
      params: z.strictObject({ name: z.string().meta({ example: 'first-order' }) }),
      answers: HTML,
      problems: ['route_not_found'],
      handle: async ({ params, header }) => found(await files.guide(nameIn(params))).for(header),
    }),
    publicOperation({
      id: 'getDocsFile',
      method: 'get',
      path: '/docs/assets/{name}',
      tag,
      summary: 'A file of the documentation site',
      description: 'Style sheets, scripts and data of the pages.',
      params: z.strictObject({ name: z.string().meta({ example: 'site.css' }) }),
      answers: {
        200: {
          description: 'The file.',
          contentType: 'text/css',
          otherContentTypes: ['text/javascript', 'image/svg+xml', 'application/json'],
        },
      },
      problems: ['route_not_found'],
      handle: async ({ params, header }) => found(await files.asset(nameIn(params))).for(header),
    }),
  ];
}

function found(reply: CacheableReply | undefined): CacheableReply {
  if (reply === undefined) throw new Problem('route_not_found');
  return reply;
}

function nameIn(params: unknown): string {
  return z.object({ name: z.string() }).parse(params).name;
}

const PROJECT = new URL('../../', import.meta.url);
const ASSETS = new URL('assets/', import.meta.url);

/** The files beside this one that the site serves. */
const OWN_ASSETS: Readonly<Record<string, string>> = {
  'site.css': 'text/css; charset=utf-8',
  'site.js': 'text/javascript; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

export interface SiteOptions {
  /** All operations, whose description the reference shows. */
  readonly operations: () => readonly Operation[];
  readonly version: string;
  readonly publicUrl: () => string;
}

/** The pages and files of the documentation site. Each is made once, when it is asked for the first time. */
class SiteFiles {
  readonly #options: SiteOptions;
  readonly #made = new Map<string, Promise<CacheableReply>>();

  constructor(options: SiteOptions) {
    this.#options = options;
  }

  async home(): Promise<CacheableReply> {
    return this.#once('home', () => page(homePage('docs')));
  }

  async reference(): Promise<CacheableReply> {
    return this.#once('reference', () => page(referencePage('../docs')));
  }

  /** @returns undefined for a name that no guide has. */
  async guide(name: string): Promise<CacheableReply | undefined> {
    const guide = GUIDES.find((each) => each.name === name);
    return guide && this.#once(`guide ${name}`, () => page(guidePage('../../docs', guide, this.#rendered(guide))));
  }

  /** @returns undefined for a name that no file has. */
  async asset(name: string): Promise<CacheableReply | undefined> {
    const make = this.#makerOf(name);
    return make && this.#once(`asset ${name}`, make);
  }

  #makerOf(name: string): (() => CacheableReply | Promise<CacheableReply>) | undefined {
    const { operations, version, publicUrl } = this.#options;
    if (Object.hasOwn(OWN_ASSETS, name)) return () => asset(name, readFileSync(new URL(name, ASSETS)));
    switch (name) {
      case 'scalar.js':
        return async () => new CacheableReply(await scalarBundle(), 'text/javascript; charset=utf-8');
      case 'openapi.json':
        return () => CacheableReply.json(referenceDocument(operations(), version, publicUrl()));
      case 'examples.json':
        return () => CacheableReply.json(exampleIds(operations()));
      case 'search.json':
        return () =>
          CacheableReply.json(
            searchIndex(
              GUIDES.map((each) => ({ ...each, ...this.#rendered(each) })),
              operations(),
            ),
          );
      default:
        return undefined;
    }
  }

  #rendered({ source, section }: Guide): RenderedGuide {
    if (typeof source !== 'string') return renderMarkdown(source(this.#options.operations()), '', '../../docs');
    const text = readFileSync(new URL(source, PROJECT), 'utf8');
    return renderMarkdown(section === undefined ? text : sectionOf(text, source, section), source, '../../docs');
  }

  async #once(name: string, make: () => CacheableReply | Promise<CacheableReply>): Promise<CacheableReply> {
    const known = this.#made.get(name) ?? Promise.resolve().then(make);
    this.#made.set(name, known);
    return known;
  }
}

/** A section as a document of its own. Its links to other sections lead to the whole document. */
function sectionOf(text: string, file: string, section: string): string {
  const found = text.split(/^## /m).find((each) => each.startsWith(`${section}\n`));
  if (found === undefined) throw new Error(`${file} has no section ${section}`);
  return `# ${found.replaceAll(/^##(?=#)/gm, '#').replaceAll('](#', `](${posix.basename(file)}#`)}`;
}

function page(html: string): CacheableReply {
  return new CacheableReply(html, 'text/html; charset=utf-8', { 'Content-Security-Policy': PAGE_POLICY });
}

function asset(name: string, content: Buffer): CacheableReply {
  return new CacheableReply(content, OWN_ASSETS[name] ?? 'application/octet-stream');
}
