import * as z from 'zod';
import { refused } from '#api/access/authentication.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { requireEsimOfPath } from '#api/esims/delivered-esim.ts';
import {
  createdBy,
  createdByInQuery,
  FILLED_TEXT_PATTERN,
  filledText,
  idInPath,
  instant,
  instantInput,
  instantJson,
  enumOf,
  meaningsOf,
  ourId,
  wholeNumber,
} from '#api/fields/fields.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageOf, pageQuery, pageReply } from '#api/lists/lists.ts';
import { invalid, Problem, requireFound } from '#api/problems/problem.ts';
import { metadata } from '#api/work/work-input.ts';
import { findEsim } from '#db/esims/esim-queries.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { SHARE_LINK_STATUSES, shareLanguages, shareLinkStatus } from '#domain/esims/share-link.ts';
import { SHARE_LINK_LIFE } from '#domain/policy/api-policy.ts';
import { DAY, MINUTE } from '#domain/policy/settings.ts';
import {
  createShareLink,
  findShareLink,
  listShareLinks,
  readSharedView,
  revokeShareLink,
  type ShareLinkRow,
} from '#fulfilment/share-links/share-links.ts';

export const SHARE_EXAMPLE_SECRET = '7dK2mQx9VtR4bLw8ZpC1nYs5HgJ3fEu6';
const EXAMPLE_PATH = `/e/${SHARE_EXAMPLE_SECRET}`;

const { minMs, maxMs, defaultMs } = SHARE_LINK_LIFE;
const days = (ms: number) => ms / DAY;
const BOUNDS = `${minMs / MINUTE} minutes to ${days(maxMs)} days after now`;

const language = z.enum(shareLanguages).meta({
  description: 'Language of the page when the customer chooses none. Default: the language of the browser.',
  example: 'de',
});

const label = filledText(100).meta({
  description: 'A heading for the customer, shown on the page. Not encrypted: do not include personal data.',
  example: 'Japan, 1 GB',
  override: { pattern: FILLED_TEXT_PATTERN },
});

const shareLinkInput = z
  .strictObject({
    expires_in_seconds: wholeNumber(minMs / 1_000, maxMs / 1_000)
      .optional()
      .meta({ description: `How long the link can be opened. Default: ${days(defaultMs)} days.`, example: 604_800 }),
    expires_at: instantInput.optional().meta({
      description: `The same as a time, ${BOUNDS}. Only one of the two may be given.`,
      override: { type: 'string', format: 'date-time' },
    }),
    language: language.optional(),
    label: label.optional(),
    metadata: metadata.optional(),
  })
  .refine(({ expires_in_seconds: duration, expires_at: end }) => duration === undefined || end === undefined, {
    message: 'must not be given together with `expires_in_seconds`',
    path: ['expires_at'],
  })
  .meta({ id: 'ShareLinkInput' });

const shareLinkStatusField = enumOf(SHARE_LINK_STATUSES).meta({ description: meaningsOf(SHARE_LINK_STATUSES) });

const shareLinkFields = {
  id: ourId('shareLink'),
  esim_id: ourId('esim'),
  status: shareLinkStatusField,
  label: z.string().nullable().meta({ description: 'Heading of the page.', example: 'Japan, 1 GB' }),
  language: language.nullable(),
  metadata: z.record(z.string(), z.string()),
  views: z.int().meta({
    description: 'How often the page with the codes was shown. Previews by messengers do not count.',
    example: 2,
  }),
  last_viewed_at: instant.nullable().meta({ description: 'Time of the last view. RFC 3339.' }),
  expires_at: instant,
  revoked_at: instant.nullable(),
  created_by: createdBy,
  created_at: instant,
};

const shareLinkOutput = z.strictObject(shareLinkFields).meta({
  id: 'ShareLink',
  example: { language: 'de', last_viewed_at: '2030-01-31T18:20:00.000Z', expires_at: '2030-02-07T12:00:00.000Z' },
});

const createdShareLinkOutput = z
  .strictObject({
    ...shareLinkFields,
    url: z.string().meta({
      description: 'Address of the page for your customer. It contains the secret, which no other answer shows.',
      example: `https://esim.example.com${EXAMPLE_PATH}`,
    }),
    path: z.string().meta({
      description: 'The same without the part from `API_SHARE_LINK_URL`.',
      example: EXAMPLE_PATH,
    }),
  })
  .meta({ id: 'CreatedShareLink', example: { language: 'de', views: 0, expires_at: '2030-02-07T12:00:00.000Z' } });

const LINKS_PATH = '/v1/esims/{id}/share-links';
const LINK_PATH = '/v1/share-links';
const esimPath = idInPath('esim');
const linkPath = idInPath('shareLink');

export function shareLinkOperations(dependencies: ApiDependencies): Operation[] {
  const { database, now, shareLinkUrl } = dependencies;
  const shown = (row: ShareLinkRow | undefined) =>
    jsonReply(200, shareLinkJson(requireFound(row, 'share_link_not_found'), new Date(now())));
  const list = async (
    query: Parameters<typeof pageReply>[0],
    owner: Owner,
    filter: Parameters<typeof listShareLinks>[2],
  ) => {
    const at = new Date(now());
    return pageReply(
      query,
      CURSORS.shareLink,
      (read) => database.run((db) => listShareLinks(db, owner, filter, { ...read, now: at })),
      (row) => shareLinkJson(row, at),
    );
  };
  const linkAnswer = { 200: jsonAnswer('The link.', shareLinkOutput) };
  const pageAnswer = { 200: jsonAnswer('A page of links.', pageOf(shareLinkOutput, 'ShareLinkPage')) };
  return [
    operation(`POST ${LINKS_PATH}`, {
      id: 'createShareLink',
      summary: 'Make a link with which your customer installs an eSIM',
      description:
        'The page shows the QR code, one-tap installation, the codes and the steps, in the language of the customer. ' +
        'It needs no API key: anybody with the link can install the eSIM. `url` is in this answer only (a repetition ' +
        'with the same Idempotency-Key shows it again). The link ends by itself, or when it is revoked.',
      scope: 'esims:reveal',
      idempotent: true,
      params: esimPath,
      body: shareLinkInput,
      answers: {
        201: jsonAnswer('The link with its address.', createdShareLinkOutput, {
          headers: { Location: 'Address of the link in this API, without the secret.' },
        }),
      },
      problems: ['esim_ended'],
      handle: async (request) =>
        answerOnce(dependencies, request, async (tx) => {
          const { params, body, caller } = request;
          const at = new Date(now());
          const expiresAt = requestedEnd(body, at);
          const esim = await requireEsimOfPath(findEsim, tx, params.id, caller.ownerId);
          const view = await readSharedView(tx, esim, at);
          if (view === 'cancelled' || view === 'expired') throw new Problem('esim_ended');
          const terms = { label: body.label ?? null, language: body.language ?? null, metadata: body.metadata ?? {} };
          const created = await createShareLink(
            tx,
            { esimId: params.id, apiKeyId: caller.lineageId, expiresAt, ...terms },
            { actor: caller.apiKeyId, now: at },
          );
          if (created === undefined) throw refused();
          const { row, secret } = created;
          const path = `/e/${secret}`;
          const shown = { ...shareLinkJson(row, at), url: `${shareLinkUrl()}${path}`, path };
          return jsonReply(201, shown, { Location: `${LINK_PATH}/${row.id}` });
        }),
    }),
    operation(`GET ${LINKS_PATH}`, {
      id: 'listShareLinks',
      summary: 'List the share links of an eSIM, newest first',
      description: 'With ended ones. No answer contains their secrets.',
      scope: 'esims:read',
      params: esimPath,
      query: z.strictObject(pageQuery),
      answers: pageAnswer,
      handle: async ({ params: { id }, query, caller: { ownerId } }) => {
        await database.run((db) => requireEsimOfPath(findEsim, db, id, ownerId));
        return list(query, ownerId, { esimId: id });
      },
    }),
    operation(`GET ${LINK_PATH}`, {
      id: 'listAllShareLinks',
      summary: 'List the share links of all eSIMs, newest first',
      description: 'With ended ones. No answer contains their secrets.',
      scope: 'esims:read',
      query: z.strictObject({
        status: shareLinkStatusField.optional(),
        created_by: createdByInQuery.optional(),
        ...pageQuery,
      }),
      answers: pageAnswer,
      handle: async ({ query, caller: { ownerId } }) =>
        list(query, ownerId, { status: query.status, createdBy: query.created_by }),
    }),
    operation(`GET ${LINK_PATH}/{id}`, {
      id: 'getShareLink',
      summary: 'Read a share link and how often it was viewed',
      scope: 'esims:read',
      params: linkPath,
      answers: linkAnswer,
      handle: async ({ params: { id }, caller: { ownerId } }) =>
        shown(await database.run((db) => findShareLink(db, id, ownerId))),
    }),
    operation(`DELETE ${LINK_PATH}/{id}`, {
      id: 'revokeShareLink',
      summary: 'Revoke a share link: its page is gone at once',
      description: 'The link can still be read. A revoked link is not changed.',
      scope: 'esims:reveal',
      params: linkPath,
      answers: linkAnswer,
      handle: async ({ params: { id }, caller: { ownerId, apiKeyId: actor } }) =>
        shown(await database.transaction((tx) => revokeShareLink(tx, id, ownerId, { actor, now: new Date(now()) }))),
    }),
  ];
}

/** @throws Problem validation_failed when it is out of bounds. */
function requestedEnd(
  { expires_in_seconds: duration, expires_at: end }: z.output<typeof shareLinkInput>,
  now: Date,
): Date {
  const expiresAt = end ?? new Date(now.getTime() + (duration === undefined ? defaultMs : duration * 1_000));
  const lifeMs = expiresAt.getTime() - now.getTime();
  if (lifeMs < minMs || lifeMs > maxMs)
    throw invalid([{ in: 'body', field: 'expires_at', message: `must be ${BOUNDS}` }]);
  return expiresAt;
}

function shareLinkJson(row: ShareLinkRow, now: Date): z.input<typeof shareLinkOutput> {
  return {
    id: row.id,
    esim_id: row.esimId,
    status: shareLinkStatus(row, now),
    label: row.label,
    language: row.language,
    metadata: row.metadata,
    views: row.views,
    last_viewed_at: instantJson(row.lastViewedAt),
    expires_at: row.expiresAt.toISOString(),
    revoked_at: instantJson(row.revokedAt),
    created_by: row.apiKeyId,
    created_at: row.createdAt.toISOString(),
  };
}
