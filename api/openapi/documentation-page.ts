import { EXAMPLE_IDEMPOTENCY_KEY } from '#api/http/idempotency-header.ts';
/** The pages for browsers: the API description and the explanation of each problem. */

/** Paths are relative to /docs, so that a proxy may add a path prefix. */
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
 * A separate file, because the page's policy forbids inline scripts. Without a validator nothing is sent elsewhere.
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
    // All readers would send the same example key: each request gets a new key, unless one is typed
    // in.
    requestInterceptor: (request) => {
      if (request.headers['Idempotency-Key'] === EXAMPLE_KEY) request.headers['Idempotency-Key'] = newKey();
      return request;
    },
  });
});
`;
