import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { CacheableReply } from '#api/http/cacheable-reply.ts';
import { type Operation, publicOperation } from '#api/http/operation.ts';
import { type Reply, bytesReply, jsonReply } from '#api/http/reply.ts';
import { PAGE_POLICY } from '#api/http/security-headers.ts';
import { DOCS_PAGE, DOCS_SCRIPT, PAGE_STYLE } from '#api/openapi/documentation-page.ts';
import { openApiDocument } from '#api/openapi/openapi.ts';
import { problemExplanation, problemPage } from '#api/problems/problem-page.ts';
import { EXAMPLE_ADDRESS } from '#api/problems/problem-schema.ts';
import { Problem, codeOfProblemPage } from '#api/problems/problem.ts';

const tag = 'Documentation';

const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** The served files of the package, which also contains a demo page that calls another host. */
const SWAGGER_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** The files change only with a release; an hour saves 1.5 MB for each visit. */
const ASSET_HEADERS = { 'Cache-Control': 'public, max-age=3600' };

/**
 * The description of the API and the pages about its problems.
 *
 * @param others all other operations; the description covers them and these.
 */
export function documentationOperations(
  others: readonly Operation[],
  version: string,
  publicUrl: () => string,
): Operation[] {
  const operations: Operation[] = [
    publicOperation({
      id: 'getOpenApi',
      method: 'get',
      path: '/openapi.json',
      tag,
      summary: 'This description, OpenAPI 3.1',
      description: 'For generators of clients, and for tools that send requests. It changes with releases only.',
      answers: {
        200: {
          description: 'The description. Compressed if the request accepts gzip.',
          contentType: 'application/json',
          schema: z.looseObject({}).meta({ id: 'OpenApiDocument' }),
          headers: { ETag: 'Identifies this content; send it in `If-None-Match`.' },
        },
        304: { description: 'It has not changed; the answer has no body.', contentType: 'application/json' },
      },
      handle: async ({ header }) => description().for(header),
    }),
    publicOperation({
      id: 'getDocs',
      method: 'get',
      path: '/docs',
      tag,
      summary: 'This description as a page with a client',
      description: 'For people: all calls with examples. Requests can be sent from the page.',
      answers: { 200: { description: 'The page.', contentType: 'text/html' } },
      handle: async () =>
        bytesReply(200, 'text/html; charset=utf-8', DOCS_PAGE, { 'Content-Security-Policy': PAGE_POLICY }),
    }),
    publicOperation({
      id: 'getDocsFile',
      method: 'get',
      path: '/docs/{file}',
      tag,
      summary: 'A file of that page',
      description: 'Style sheets, scripts and images. The page loads nothing from other hosts.',
      params: z.strictObject({ file: z.string().meta({ example: 'swagger-ui.css' }) }),
      answers: {
        200: { description: 'The file.', contentType: 'text/css', otherContentTypes: ['text/javascript', 'image/png'] },
      },
      problems: ['route_not_found'],
      handle: async ({ params }) => docsFile(nameIn(params, 'file')),
    }),
    publicOperation({
      id: 'getProblem',
      method: 'get',
      path: '/problems/{name}',
      tag,
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
        const code = codeOfProblemPage(nameIn(params, 'name'));
        if (code === undefined) throw new Problem('problem_not_found');
        if (/\bapplication\/json\b/i.test(header('Accept') ?? '')) {
          return jsonReply(200, problemExplanation(code, publicUrl()));
        }
        return bytesReply(200, 'text/html; charset=utf-8', problemPage(code), {
          'Content-Security-Policy': PAGE_POLICY,
        });
      },
    }),
  ];
  let document: CacheableReply | undefined;
  const description = () => (document ??= new CacheableReply(openApiDocument([...others, ...operations], version)));
  return operations;
}

async function docsFile(name: string): Promise<Reply> {
  if (name === 'page.css') return bytesReply(200, 'text/css; charset=utf-8', PAGE_STYLE, ASSET_HEADERS);
  if (name === 'start.js') return bytesReply(200, 'text/javascript; charset=utf-8', DOCS_SCRIPT, ASSET_HEADERS);
  const contentType = Object.hasOwn(SWAGGER_FILES, name) ? SWAGGER_FILES[name] : undefined;
  if (contentType === undefined) throw new Problem('route_not_found');
  return bytesReply(200, contentType, await readFile(join(SWAGGER_UI, name)), ASSET_HEADERS);
}

function nameIn(params: unknown, name: string): string {
  return z.looseObject({ [name]: z.string() }).parse(params)[name] as string;
}
