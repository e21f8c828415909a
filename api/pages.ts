/** The few pages that people open in a browser: the API description and the explanation of each problem. */
import { PROBLEMS, problemCodes, problemType, type ProblemCode } from '#api/problem.ts';

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

/** A file of its own: the page's policy forbids scripts inside the page. Without a validator nothing is sent elsewhere. */
export const DOCS_SCRIPT = `window.addEventListener('load', () => {
  window.SwaggerUIBundle({
    url: 'openapi.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    validatorUrl: null,
    presets: [window.SwaggerUIBundle.presets.apis],
  });
});
`;

/** What a problem means and what to do, for the person who follows its \`type\`. */
export function problemPage(code: ProblemCode): string {
  const { status, title, advice } = PROBLEMS[code];
  const others = problemCodes.map((each) => `<li><a href="..${problemType(each)}">${each}</a></li>`).join('');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${code}</title>
    <link rel="icon" type="image/png" href="../docs/favicon-32x32.png">
  </head>
  <body>
    <h1>${escapeHtml(title)}</h1>
    <p><code>${code}</code>, HTTP status ${status}</p>
    <h2>What to do</h2>
    <p>${escapeHtml(advice)}</p>
    <h2>All problems</h2>
    <ul>${others}</ul>
  </body>
</html>
`;
}

/** The same for programs. */
export function problemFacts(code: ProblemCode): Record<string, unknown> {
  const { status, title, advice } = PROBLEMS[code];
  return { type: problemType(code), code, status, title, advice };
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
