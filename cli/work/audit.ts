import * as z from 'zod';
import { apiAccess, type ApiOptions } from '#cli/api/api-access.ts';
import { ApiClient } from '#cli/api/api-client.ts';
import { printJson, printLine, type Output } from '#cli/terminal/output.ts';
import type { Environment } from '#config/environment.ts';

/** Largest page of the API. */
const PAGE = 100;

export interface AuditOptions extends ApiOptions {
  readonly actor?: string;
  readonly action?: string;
  /** Id of the subject. */
  readonly subject?: string;
  /** Length of the time span until now, in milliseconds. */
  readonly since?: number;
  /** Maximum number of entries. */
  readonly limit: number;
  readonly json?: boolean;
}

const entry = z.object({
  at: z.string(),
  actor: z.string(),
  api_key: z.object({ name: z.string(), prefix: z.string() }).nullable(),
  action: z.string(),
  subject_kind: z.string(),
  subject_id: z.string(),
  reason: z.string().nullable(),
});
const page = z.object({ data: z.array(entry), next_cursor: z.string().nullable() });
type Entry = z.output<typeof entry>;

/** `reseller audit`: prints the audit log, newest first. */
export async function showAuditLog(
  options: AuditOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  const { actor, action, subject, since, limit, json } = options;
  const api = new ApiClient(apiAccess(options, environment));
  const query = new URLSearchParams({
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(subject !== undefined && { subject_id: subject }),
    ...(since !== undefined && { recorded_after: new Date(Date.now() - since).toISOString() }),
  });
  const entries: Entry[] = [];
  for (let cursor: string | null = ''; cursor !== null && entries.length < limit;) {
    query.set('limit', String(Math.min(PAGE, limit - entries.length)));
    if (cursor !== '') query.set('cursor', cursor);
    const found: z.output<typeof page> = await api.call({ path: `/v1/audit-log?${query.toString()}`, answer: page });
    entries.push(...found.data);
    cursor = found.next_cursor;
  }
  if (json === true) printJson(output, entries);
  else for (const each of entries) printLine(output, lineOf(each));
}

function lineOf({ at, actor, api_key: key, action, subject_id: id, subject_kind: kind, reason }: Entry): string {
  const who = key === null ? actor : `${key.name} (${key.prefix})`;
  const what = kind === 'webhook_secret' ? `webhook secret of the ${id}` : id;
  return `${at}  ${who}  ${action}  ${what}${reason === null ? '' : `  ${reason}`}`;
}
