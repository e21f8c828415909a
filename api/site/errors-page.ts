import { STATUS_CODES } from 'node:http';
import type { Operation } from '#api/http/operation.ts';
import { problemsOf } from '#api/openapi/describe-operation.ts';
import { type ProblemCode, problemCodes, problemRow, PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { problemExample } from '#api/problems/problem-schema.ts';
import { problemPath } from '#api/problems/problem.ts';

/** Maximum number of calls to list for one code. */
const LISTED_CALLS = 8;

const HEAD = `# Errors, one by one

Every error answer is \`application/problem+json\` (RFC 9457). Switch on \`code\`: its meaning never changes. \`type\`
is the address of a page about this error alone. \`request_id\` identifies the request in the log
of the API. How to handle errors in a client: [retries and idempotency](docs/how-to/retries-and-idempotency.md).

The column *again* says whether the same request may be sent again. **no**: it would be refused again. **after a
change**: change what the answer names first. **yes**: with the same \`Idempotency-Key\`, after \`Retry-After\` if it
is present.

`;

/** The page *Errors* in Markdown: meaning, advice and calls of each problem. */
export function errorsPage(operations: readonly Operation[]): string {
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
  const { title, advice, meaning = '' } = problemRow(code);
  const calls = operations
    .filter((operation) => problemsOf(operation).includes(code))
    .map(({ method, path }) => `\`${method.toUpperCase()} ${path}\``);
  return [
    `### ${code}`,
    '',
    `${title}. ${meaning}`.trimEnd(),
    '',
    `**What to do.** ${advice}`,
    '',
    callsLine(calls, operations.length),
    '',
    '```json',
    JSON.stringify(problemExample(code), undefined, 2),
    '```',
    '',
    `Address of its page: \`${problemPath(code)}\`.`,
    '',
  ].join('\n');
}

function callsLine(calls: readonly string[], all: number): string {
  if (calls.length === 0) return 'Returned for addresses without a call.';
  if (calls.length <= LISTED_CALLS) return `Returned by ${calls.join(', ')}.`;
  return calls.length === all
    ? 'Returned by every call.'
    : `Returned by ${calls.length} calls; \`/docs\` lists it at each of them.`;
}

/** Whether the same request may be sent again. */
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
