import type { ApiOptions } from '#cli/api/api-access.ts';
import { apiClient } from '#cli/api/api-client.ts';
import { type Columns, flexible, text, time } from '#cli/terminal/columns.ts';
import { type Output, printLine } from '#cli/terminal/output.ts';
import { type FormatOptions, printItems } from '#cli/terminal/print-items.ts';
import type { DeadLetter } from '#clients/typescript/src/index.ts';
import type { Environment } from '#config/environment.ts';

const COLUMNS: Columns<DeadLetter> = {
  received_at: time((each) => each.received_at),
  id: text((each) => each.id),
  message: text((each) => each.message),
  subject_kind: text((each) => each.subject_kind),
  subject_id: text((each) => each.subject_id),
  tries: text((each) => each.tries),
  error: flexible((each) => each.error),
};

/** The relay could not process these rows and quarantined them. */
export async function listDeadLetters(
  options: ApiOptions & FormatOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  const api = apiClient(options, environment);
  const letters = [];
  for (const queue of ['inbox', 'outbox']) letters.push(...(await api.all<DeadLetter>('/v1/dead-letters', { queue })));
  printItems(options, COLUMNS, letters, { output, environment, none: 'There are no dead letters.' });
}

const DONE = { requeue: 'is processed again', dismiss: 'is dismissed' } as const;

export async function endDeadLetter(
  action: keyof typeof DONE,
  id: string,
  { reason, ...options }: ApiOptions & { readonly reason: string },
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  const path = `/v1/dead-letters/${encodeURIComponent(id)}/${action}`;
  await apiClient(options, environment).call({ path, body: { reason } });
  printLine(output, `${id} ${DONE[action]}.`);
}
