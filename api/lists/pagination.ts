/** The few pages that people open in a browser: the API description and the explanation of each problem. */
import { EXAMPLE_IDEMPOTENCY_KEY } from '#api/http/idempotency-header.ts';
import { PROBLEM_MEANINGS } from '#api/problems/problem-meanings.ts';
import { problemExample } from '#api/problems/problem-schema.ts';
import { PROBLEMS, problemCodes, problemType, type ProblemCode } from '#api/problems/problem.ts';

/** Names relative to /docs, so that a proxy may put all of it below a path of its own. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Reseller fulfilment API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/** For the pages about problems. */
export const PAGE_STYLE = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { line-height: 1.2; }
h2 { margin-top: 2rem; font-size: 1.1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { overflow-x: auto; padding: 1rem; border: 1px solid #8886; border-radius: 0.4rem; }
ul { padding-left: 1.2rem; }
`;

/**
 * A file of its own: the page's policy forbids scripts inside the page. Without a validator nothing is sent elsewhere.
 */
export const DOCS_SCRIPT = `const EXAMPLE_KEY = '${EXAMPLE_IDEMPOTENCY_KEY}';

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

window.addEventListener('load', () => {
  window.SwaggerUIBundle({
    url: 'openapi.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    filter: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    presets: [window.SwaggerUIBundle.presets.apis],
    // The example would be the same for everybody who tries: each request gets a key of its own, unless one is typed
    // in.
    requestInterceptor: (request) => {
      if (request.headers['Idempotency-Key'] === EXAMPLE_KEY) request.headers['Idempotency-Key'] = newKey();
      return request;
    },
  });
});
`;

/** What a problem means and what to do, for the person who follows its `type`. */
export function problemPage(code: ProblemCode): string {
  const { status, title, advice } = PROBLEMS[code];
  const meaning = PROBLEM_MEANINGS[code];
  const others = problemCodes
    .map(
      (each) =>
        `<li><a href="..${problemType(each)}"><code>${each}</code></a> ${escapeHtml(PROBLEMS[each].title)}</li>`,
    )
    .join('');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${code}</title>
    <link rel="stylesheet" href="../docs/page.css">
    <link rel="icon" type="image/png" href="../docs/favicon-32x32.png">
  </head>
  <body>
    <main>
      <h1>${escapeHtml(title)}</h1>
      <p><code>${code}</code>, HTTP status ${status}</p>
      ${meaning === undefined ? '' : `<h2>What it means</h2>\n      <p>${marked(meaning)}</p>`}
      <h2>What to do</h2>
      <p>${marked(advice)}</p>
      <h2>An example</h2>
      <pre>${escapeHtml(JSON.stringify(problemExample(code), undefined, 2))}</pre>
      <h2>All problems</h2>
      <ul>${others}</ul>
      <p><a href="../docs">The description of the API</a></p>
    </main>
  </body>
</html>
`;
}

/** The same for programs. */
export function problemFacts(code: ProblemCode): Record<string, unknown> {
  const { status, title, advice } = PROBLEMS[code];
  return { type: problemType(code), code, status, title, meaning: PROBLEM_MEANINGS[code] ?? null, advice };
}

/** Plain text with `code` in it. */
function marked(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
