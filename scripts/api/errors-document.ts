import { STATUS_CODES } from 'node:http';
import type { Operation } from '#api/http/operation.ts';
import { problemsOf } from '#api/openapi/describe-operation.ts';
import { PROBLEMS, type ProblemCode, problemCodes } from '#api/problems/problem-catalogue.ts';
import { PROBLEM_MEANINGS } from '#api/problems/problem-meanings.ts';
import { problemExample } from '#api/problems/problem-schema.ts';
import { problemType } from '#api/problems/problem.ts';

/** More than this many calls are not listed: nobody reads such a list. */
const LISTED_CALLS = 8;

const HEAD = `# Errors, one by one

<!-- Made by \`npm run generate:api\`; changes by hand are lost. -->

Every error answer is \`application/problem+json\` (RFC 9457). Switch on \`code\`, which never changes its meaning; \`type\` leads to a page of
the running API that says the same as this one. \`request_id\` names the request in the log of the API. How to write this into a client:
[retries and idempotency](../how-to/retries-and-idempotency.md).

*Again* says whether the same request may be sent again: **no**, it would be refused again; **after a change**, of what the answer names;
**yes**, with the same \`Idempotency-Key\`, after \`Retry-After\` where there is one.

`;

/** Of each problem: what it means, what to do, and which calls answer with it. */
export function errorsDocument(operations: readonly Operation[]): string {
  const byStatus = [...Map.groupBy(problemCodes, (code) => PROBLEMS[code].status)].toSorted(
    ([left], [right]) => left - right,
  );
  const overview = byStatus.flatMap(([, codes]) =>
    codes.map(
      (code) => `| [\`${code}\`](#${code}) | ${PROBLEMS[code].status} | ${PROBLEMS[code].title} | ${again(code)} |`,
    ),
  );
  const sections = byStatus.map(([status, codes]) =>
    [`## ${status} ${STATUS_CODES[status] ?? ''}`, '', ...codes.map((code) => sectionOf(code, operations))].join('\n'),
  );
  return (
    [`${HEAD}| code | status | title | again |`, '|---|---|---|---|', ...overview, '', ...sections]
      .join('\n')
      .trimEnd() + '\n'
  );
}

function sectionOf(code: ProblemCode, operations: readonly Operation[]): string {
  const { title, advice } = PROBLEMS[code];
  const meaning = PROBLEM_MEANINGS[code];
  const calls = operations
    .filter((operation) => problemsOf(operation).includes(code))
    .map(({ method, path }) => `\`${method.toUpperCase()} ${path}\``);
  return [
    `### ${code}`,
    '',
    `${title}. ${meaning ?? ''}`.trimEnd(),
    '',
    `**What to do.** ${advice}`,
    '',
    callsLine(calls, operations.length),
    '',
    '```json',
    JSON.stringify(problemExample(code), undefined, 2),
    '```',
    '',
    `Page of the running API: \`${problemType(code)}\`.`,
    '',
  ].join('\n');
}

function callsLine(calls: readonly string[], all: number): string {
  if (calls.length === 0) return 'Answered where no call fits.';
  if (calls.length <= LISTED_CALLS) return `Answered by ${calls.join(', ')}.`;
  return calls.length === all
    ? 'Answered by any call.'
    : `Answered by ${calls.length} calls; \`/docs\` names it with each of them.`;
}

/** Whether the same request may come again. */
function again(code: ProblemCode): string {
  const status: number = PROBLEMS[code].status;
  if (
    code === 'idempotency_in_progress' ||
    code === 'webhook_secret_busy' ||
    status === 429 ||
    status === 500 ||
    status > 501
  )
    return 'yes';
  return status === 400 || status === 401 || status === 403 || status === 413 || status === 415 || status === 422
    ? 'after a change'
    : 'no';
}
