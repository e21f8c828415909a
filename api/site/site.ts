import * as z from 'zod';
import type { CacheableReply } from '#api/http/cacheable-reply.ts';
import { type Operation, publicOperation } from '#api/http/operation.ts';
import { Problem } from '#api/problems/problem.ts';
import { SiteFiles, type SiteOptions } from '#api/site/site-files.ts';

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
