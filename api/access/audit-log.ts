import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { instant, timeInQuery } from '#api/fields/fields.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageOf, pageQuery, pageReply } from '#api/lists/lists.ts';
import { addAuditEntries, listAuditEntries, type AuditRow } from '#db/access/audit-log.ts';
import type { PageOptions } from '#db/lists/pages.ts';

const visible = (max: number) =>
  z.string().regex(new RegExp(`^[\\x21-\\x7e]{1,${max}}$`), `must have 1 to ${max} visible ASCII characters`);

const entryOutput = z
  .strictObject({
    created_at: instant,
    actor: z.string().meta({
      description:
        'Id of an API key, `command/<account>` for a command and the account that ran it, or `share_link/<id>` for ' +
        'a visitor with that share link.',
      example: 'key_01JQ8Z4D1E2F3G4H5J6K7MNPQR',
    }),
    api_key: z
      .strictObject({ name: z.string(), prefix: z.string() })
      .nullable()
      .meta({ description: 'The API key of the actor, if it was one.' }),
    action: z.string().meta({ description: 'Stable name of the action.', example: 'esim.activation_revealed' }),
    subject_kind: z.string().meta({ description: 'Kind of the changed or revealed object.', example: 'esim' }),
    subject_id: z.string().meta({ example: 'esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM' }),
    reason: z
      .string()
      .nullable()
      .meta({
        description:
          "The actor's reason, if one is required; for an API key or a webhook endpoint the values that were " +
          'set or changed.',
      }),
  })
  .meta({ id: 'AuditEntry', example: { api_key: { name: 'support desk', prefix: 'a1B2c3D4' } } });

const query = z.strictObject({
  actor: visible(128).optional().meta({ description: 'Id of an API key, `command/<account>`, or `share_link/<id>`.' }),
  action: visible(64).optional().meta({ description: 'This action only, such as `vpn.access_revealed`.' }),
  subject_kind: visible(32).optional().meta({ description: 'Such as `order`, `esim` or `api_key`.' }),
  subject_id: visible(128).optional(),
  created_after: timeInQuery('Later than this.'),
  created_before: timeInQuery('Earlier than this.'),
  ...pageQuery,
});

/** Entries are never changed. */
export function auditLogOperations({ database }: ApiDependencies): Operation[] {
  return [
    operation('GET /v1/audit-log', {
      id: 'listAuditLog',
      summary: 'List the audit log, newest first',
      description:
        'Every reveal of an activation code, QR code or VPN access data, every action of an operator, and every ' +
        'change of an API key, a share link, a webhook endpoint, a webhook secret or a pause, by the API or by a ' +
        'command.',
      scope: 'audit:read',
      query,
      answers: { 200: jsonAnswer('A page of the audit log.', pageOf(entryOutput, 'AuditPage')) },
      handle: async ({ query: given }) => {
        const filter = {
          actor: given.actor,
          action: given.action,
          subjectKind: given.subject_kind,
          subjectId: given.subject_id,
          after: given.created_after,
          before: given.created_before,
        };
        const read = (at: PageOptions<bigint>) => database.run((db) => listAuditEntries(db, filter, at));
        return pageReply(given, CURSORS.auditLog, read, entryJson);
      },
    }),
  ];
}

/** Before what is read is shown. */
export async function auditReveal(
  { database, now }: Pick<ApiDependencies, 'database' | 'now'>,
  by: { readonly actor: string; readonly action: string },
  kind: 'esim' | 'vpn_subscription',
  rows: readonly { readonly id: string }[],
): Promise<void> {
  const entries = rows.map(({ id }) => ({ ...by, subject: { kind, id } }));
  await database.run((db) => addAuditEntries(db, entries, new Date(now())));
}

function entryJson({ entry, key }: AuditRow): z.input<typeof entryOutput> {
  return {
    created_at: entry.at.toISOString(),
    actor: entry.actor,
    api_key: key && { name: key.name, prefix: key.prefix },
    action: entry.action,
    subject_kind: entry.subjectKind,
    subject_id: entry.subjectId,
    reason: entry.reason,
  };
}
