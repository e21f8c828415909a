import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import * as z from 'zod';
import { type Incoming, jsonAnswer, type Operation, publicOperation } from '#api/http/operation.ts';
import { bytesReply, CacheableReply, jsonReply } from '#api/http/reply.ts';
import { PAGE_POLICY } from '#api/http/request-context.ts';
import { openApiDocument } from '#api/openapi/openapi.ts';
import { type ProblemCode, problemRow } from '#api/problems/problem-catalogue.ts';
import { EXAMPLE_ADDRESS } from '#api/problems/problem-schema.ts';
import { codeOfProblemPage, Problem, problemType, requireFound } from '#api/problems/problem.ts';
import { type Guide, GUIDES } from '#api/site/guides.ts';
import { type RenderedGuide, renderMarkdown, searchIndex } from '#api/site/markdown.ts';
import { guidePage, homePage, problemPage, referencePage } from '#api/site/pages.ts';
import { exampleIds, referenceDocument } from '#api/site/reference-document.ts';

const HTML = { 200: { description: 'The page.', contentType: 'text/html' } } as const;
const PROJECT = new URL('../../', import.meta.url);
const ASSETS = new URL('assets/', import.meta.url);

/**
 * The description of the API, its problems, and the documentation site: guides, and the reference with a client. Each
 * page is made when it is asked for first.
 * @param others all other operations; the description covers them and these.
 */
export function documentationOperations(
  others: readonly Operation[],
  version: string,
  publicUrl: () => string,
): Operation[] {
  const made = new Map<string, Promise<CacheableReply>>();
  const once = async (path: string, make: Maker | undefined, header: Incoming['header']) => {
    if (make === undefined) throw new Problem('route_not_found');
    const reply = made.get(path) ?? Promise.resolve().then(make);
    made.set(path, reply);
    try {
      return (await reply).for(header);
    } catch (error) {
      // The next request tries again.
      made.delete(path);
      throw error;
    }
  };
  const all = () => [...others, ...operations];
  const files = filesOf(all, version, publicUrl);
  const operations: Operation[] = [
    publicOperation('GET /openapi.json', {
      id: 'getOpenApi',
      summary: 'This description, OpenAPI 3.1',
      description: 'For generators of clients, and for tools that send requests. It changes with releases only.',
      answers: {
        200: jsonAnswer(
          'The description. Compressed if the request accepts gzip.',
          z.looseObject({}).meta({ id: 'OpenApiDocument' }),
          { headers: { ETag: 'Identifies this content; send it in `If-None-Match`.' } },
        ),
        304: { description: 'It has not changed; the answer has no body.', contentType: 'application/json' },
      },
      handle: ({ header }) => once('openapi.json', () => CacheableReply.json(openApiDocument(all(), version)), header),
    }),
    publicOperation('GET /problems/{name}', {
      id: 'getProblem',
      summary: 'What a problem means and what to do',
      description: 'HTML, or JSON with `Accept: application/json`.',
      params: z.strictObject({ name: z.string().meta({ example: 'validation-failed' }) }),
      answers: {
        200: {
          description: 'The explanation.',
          contentType: 'application/json',
          otherContentTypes: ['text/html'],
          schema: z
            .strictObject({
              type: z.string(),
              code: z.string(),
              status: z.int(),
              title: z.string(),
              meaning: z.string().nullable(),
              advice: z.string(),
            })
            .meta({ id: 'ProblemExplanation' }),
          example: problemExplanation('validation_failed', EXAMPLE_ADDRESS),
        },
      },
      problems: ['problem_not_found'],
      handle: async ({ params, header }) => {
        const code = requireFound(codeOfProblemPage(nameIn(params)), 'problem_not_found');
        const wantsJson = /\bapplication\/json\b/i.test(header('Accept') ?? '');
        if (wantsJson) return jsonReply(200, problemExplanation(code, publicUrl()));
        const headers = { 'Content-Security-Policy': PAGE_POLICY };
        return bytesReply(200, 'text/html; charset=utf-8', problemPage(code), headers);
      },
    }),
    publicOperation('GET /docs', {
      id: 'getDocs',
      summary: 'The documentation site',
      description: 'For people: guides, and all calls with examples. It loads nothing from other hosts.',
      answers: HTML,
      handle: ({ header }) => once('docs', () => page(homePage('docs')), header),
    }),
    publicOperation('GET /docs/reference', {
      id: 'getDocsReference',
      summary: 'This description as a page with a client',
      description: 'Requests can be sent from the page.',
      answers: HTML,
      handle: ({ header }) => once('docs/reference', () => page(referencePage('../docs')), header),
    }),
    publicOperation('GET /docs/guides/{name}', {
      id: 'getDocsGuide',
      summary: 'A guide of the documentation site',
      description: 'One of the documents of the project, with the navigation of all guides.',
      params: z.strictObject({ name: z.string().meta({ example: 'first-order' }) }),
      answers: HTML,
      problems: ['route_not_found'],
      handle: async ({ params, header }) => {
        const guide = GUIDES.find(({ name }) => name === nameIn(params));
        const make = guide && (() => page(guidePage('../../docs', guide, rendered(guide, all()))));
        return once(`docs/guides/${guide?.name}`, make, header);
      },
    }),
    publicOperation('GET /docs/assets/{name}', {
      id: 'getDocsFile',
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
      handle: async ({ params, header }) => once(`docs/assets/${nameIn(params)}`, files.get(nameIn(params)), header),
    }),
  ];
  return operations;
}

function problemExplanation(code: ProblemCode, publicUrl: string): Record<string, unknown> {
  const { status, title, advice, meaning = null } = problemRow(code);
  return { type: problemType(code, publicUrl), code, status, title, meaning, advice };
}

type Maker = () => CacheableReply | Promise<CacheableReply>;

function nameIn(params: unknown): string {
  return z.object({ name: z.string() }).parse(params).name;
}

function filesOf(
  operations: () => readonly Operation[],
  version: string,
  publicUrl: () => string,
): ReadonlyMap<string, Maker> {
  const own = (name: string, type: string) => () => new CacheableReply(readFileSync(new URL(name, ASSETS)), type);
  const json = (make: () => unknown) => () => CacheableReply.json(make());
  const guides = () => GUIDES.map((each) => ({ ...each, ...rendered(each, operations()) }));
  return new Map<string, Maker>([
    ['site.css', own('site.css', 'text/css; charset=utf-8')],
    ['site.js', own('site.js', SCRIPT)],
    ['reference.js', own('reference.js', SCRIPT)],
    ['icon.svg', own('icon.svg', 'image/svg+xml')],
    ['scalar.js', async () => new CacheableReply(await scalarBundle(), SCRIPT)],
    ['openapi.json', json(() => referenceDocument(operations(), version, publicUrl()))],
    ['examples.json', json(() => exampleIds(operations()))],
    ['search.json', json(() => searchIndex(guides(), operations()))],
  ]);
}

const SCRIPT = 'text/javascript; charset=utf-8';

function rendered({ source, section }: Guide, operations: readonly Operation[]): RenderedGuide {
  if (typeof source !== 'string') return renderMarkdown(source(operations), '', '../../docs');
  const text = readFileSync(new URL(source, PROJECT), 'utf8');
  return renderMarkdown(section === undefined ? text : sectionOf(text, source, section), source, '../../docs');
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

/** The route of the plugin that answers with the script for browsers. */
const SCRIPT_ROUTE = '/js/scalar.js';

const isFunction = (value: unknown) => typeof value === 'function';

const plugin = z.looseObject({
  default: z.custom<(fastify: unknown, options: unknown, done: () => void) => void>(isFunction),
});

const route = z.object({
  url: z.string(),
  handler: z.custom<(request: unknown, reply: unknown) => unknown>(isFunction),
});

/**
 * The script of Scalar's API reference for browsers.
 *
 * The package for Fastify contains this script and depends on small packages. `@scalar/api-reference` contains the same
 * script, and installs 310 MB of parts that the script already includes. So the plugin is registered with a recorder of
 * its routes, and the handler of the script is called once.
 *
 * @throws Error when the plugin has no such route; a test notices it after an update.
 */
async function scalarBundle(): Promise<string> {
  const loaded: unknown = await import('@scalar/fastify-api-reference');
  const routes: unknown[] = [];
  const recorder = { route: (each: unknown) => void routes.push(each), hasPlugin: () => false, initialConfig: {} };
  plugin.parse(loaded).default(recorder, { configuration: { url: 'openapi.json' } }, () => undefined);
  const found = routes.map((each) => route.safeParse(each).data).find((each) => each?.url.endsWith(SCRIPT_ROUTE));
  if (found === undefined) throw new Error(`the plugin has no route ${SCRIPT_ROUTE}`);
  let script: unknown;
  const reply = {
    header: () => reply,
    send: (content: unknown) => {
      script = content;
      return reply;
    },
  };
  found.handler(undefined, reply);
  return z.string().min(1_000_000).parse(script);
}
