import { escapeHtml } from '#api/http/html.ts';
import { type ProblemCode, problemCodes, problemRow, PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { problemExample } from '#api/problems/problem-schema.ts';
import { problemPath } from '#api/problems/problem.ts';
import { GUIDE_GROUPS, type Guide } from '#api/site/guides.ts';
import type { RenderedGuide } from '#api/site/markdown.ts';

/** Head and top bar around the content of a page. @param docs address of `/docs`, relative to the page. */
function sitePage(docs: string, title: string, content: string, scripts: readonly string[] = []): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(title)}</title>
    <link rel="icon" type="image/svg+xml" href="${docs}/assets/icon.svg">
    <link rel="stylesheet" href="${docs}/assets/site.css">
    <script src="${docs}/assets/site.js" data-docs="${docs}"></script>
  </head>
  <body>
    <header class="bar">
      <a class="brand" href="${docs}">Reseller fulfilment API</a>
      <nav aria-label="Parts of the documentation">
        <a href="${docs}/guides/first-order">Guides</a>
        <a href="${docs}/reference">Reference</a>
      </nav>
    </header>
${content}
${scripts.map((name) => `    <script src="${docs}/assets/${name}"></script>\n`).join('')}  </body>
</html>
`;
}

export function homePage(docs: string): string {
  const groups = Object.entries(GUIDE_GROUPS)
    .map(
      ([group, guides]) =>
        `<section><h2>${group}</h2><ul>${guides.map((guide) => item(docs, guide)).join('')}</ul></section>`,
    )
    .join('\n');
  const content = `    <main class="home">
      <h1>Reseller fulfilment API</h1>
      <p>Sell eSIM packages and VPN subscriptions. Nothing is bought a second time without proof that the first purchase
        cost nothing.</p>
      <p class="actions"><a class="button" href="${docs}/guides/first-order">Your first order</a>
        <a class="button secondary" href="${docs}/reference">API reference</a></p>
      ${searchBox()}
      <div class="groups">${groups}</div>
      <p><a href="${docs}/../openapi.json">openapi.json</a> is the description of the API for generators and tools.</p>
    </main>`;
  return sitePage(docs, 'Reseller fulfilment API', content);
}

export function guidePage(docs: string, guide: Guide, { html, headings }: RenderedGuide): string {
  const sections = headings
    .filter(({ level }) => level === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
    .join('');
  const content = `    <div class="columns">
      <aside>
        <details class="menu" open><summary>All guides</summary>
          ${searchBox()}
          ${guideList(docs, guide)}
        </details>
      </aside>
      <main>
${html}
      </main>
      <nav class="sections" aria-label="On this page">${sections && `<p>On this page</p><ul>${sections}</ul>`}</nav>
    </div>`;
  return sitePage(docs, guide.title, content);
}

export function problemPage(code: ProblemCode): string {
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

/** The page of the reference, which its script fills. */
export function referencePage(docs: string): string {
  const content = `    <div id="reference"></div>
    <noscript><p>The reference needs a script.
      <a href="${docs}/../openapi.json">openapi.json</a> has the same content.</p></noscript>`;
  return sitePage(docs, 'API reference', content, ['scalar.js', 'reference.js']);
}

function marked(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function guideList(docs: string, current: Guide): string {
  return Object.entries(GUIDE_GROUPS)
    .map(([group, guides]) => `<p>${group}</p><ul>${guides.map((guide) => item(docs, guide, current)).join('')}</ul>`)
    .join('\n');
}

function item(docs: string, { name, title }: Guide, current?: Guide): string {
  const here = current?.name === name ? ' aria-current="page"' : '';
  return `<li><a href="${docs}/guides/${name}"${here}>${escapeHtml(title)}</a></li>`;
}

function searchBox(): string {
  return `<div class="search"><input type="search" placeholder="Search guides and calls"
            aria-label="Search guides and calls"
            autocomplete="off"><ul hidden></ul></div>`;
}
