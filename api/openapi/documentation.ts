import * as z from 'zod';
import { escapeHtml } from '#api/http/html.ts';
import { jsonAnswer, type Operation, publicOperation } from '#api/http/operation.ts';
import { bytesReply, CacheableReply, jsonReply } from '#api/http/reply.ts';
import { PAGE_POLICY } from '#api/http/request-context.ts';
import { openApiDocument } from '#api/openapi/openapi.ts';
import { type ProblemCode, problemCodes, problemRow, PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { EXAMPLE_ADDRESS, problemExample } from '#api/problems/problem-schema.ts';
import { codeOfProblemPage, Problem, problemPath, problemType } from '#api/problems/problem.ts';
import { sitePage } from '#api/site/pages.ts';
import { siteOperations } from '#api/site/site.ts';

/** @param others all other operations; the description covers them and these. */
export function documentationOperations(
  others: readonly Operation[],
  version: string,
  publicUrl: () => string,
): Operation[] {
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
      handle: async ({ header }) => description().for(header),
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
  const all = () => [...others, ...operations];
  operations.push(...siteOperations({ operations: all, version, publicUrl }));
  let document: CacheableReply | undefined;
  const description = () => (document ??= CacheableReply.json(openApiDocument(all(), version)));
  return operations;
}

function nameIn(params: unknown, name: string): string {
  return z.looseObject({ [name]: z.string() }).parse(params)[name] as string;
}

function problemPage(code: ProblemCode): string {
  const { status, title, advice, meaning } = problemRow(code);
  const others = problemCodes
    .map(
      (each) =>
        `<li><a href="..${problemPath(each)}"><code>${each}</code></a> ${escapeHtml(PROBLEMS[each].title)}</li>`,
    )
    .join('');
  const content = `    <main class="problem">
      <h1>${escapeHtml(title)}</h1>
      <p><code>${code}</code>, HTTP status ${status}</p>
      ${meaning === undefined ? '' : `<h2>What it means</h2>\n      <p>${marked(meaning)}</p>`}
      <h2>What to do</h2>
      <p>${marked(advice)}</p>
      <h2>An example</h2>
      <pre>${escapeHtml(JSON.stringify(problemExample(code), undefined, 2))}</pre>
      <h2>All problems</h2>
      <ul>${others}</ul>
    </main>`;
  return sitePage('../docs', code, content);
}

function problemExplanation(code: ProblemCode, publicUrl: string): Record<string, unknown> {
  const { status, title, advice, meaning = null } = problemRow(code);
  return { type: problemType(code, publicUrl), code, status, title, meaning, advice };
}

function marked(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
