import { escapeHtml } from '#api/http/html.ts';
import { PROBLEMS, type ProblemCode, problemCodes } from '#api/problems/problem-catalogue.ts';
import { PROBLEM_MEANINGS } from '#api/problems/problem-meanings.ts';
import { problemExample } from '#api/problems/problem-schema.ts';
import { problemPath, problemType } from '#api/problems/problem.ts';
import { sitePage } from '#api/site/pages.ts';

/** The HTML page of a problem, at the address in its `type`: its meaning, what to do, and an example. */
export function problemPage(code: ProblemCode): string {
  const { status, title, advice } = PROBLEMS[code];
  const meaning = PROBLEM_MEANINGS[code];
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

/** The same for programs. @param publicUrl address of the API. */
export function problemExplanation(code: ProblemCode, publicUrl: string): Record<string, unknown> {
  const { status, title, advice } = PROBLEMS[code];
  return { type: problemType(code, publicUrl), code, status, title, meaning: PROBLEM_MEANINGS[code] ?? null, advice };
}

/** Plain text with `code` in it. */
function marked(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
