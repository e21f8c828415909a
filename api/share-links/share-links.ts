import * as z from 'zod';
import { refused } from '#api/access/authentication.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { requireEsimOfPath } from '#api/esims/delivered-esim.ts';
import { createdByInQuery, idInPath } from '#api/fields/fields.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageQuery, pageReply } from '#api/lists/lists.ts';
import { invalid, Problem, requireFound } from '#api/problems/problem.ts';
import {
  createdShareLinkOutput,
  endProblem,
  requestedEnd,
  shareLinkInput,
  shareLinkJson,
  shareLinkOutput,
  shareLinkPage,
  shareLinkStatusField,
} from '#api/share-links/share-link-schemas.ts';
import { findEsim } from '#db/esims/esim-queries.ts';
import type { Owner } from '#db/lists/ownership.ts';
import {
  createShareLink,
  findShareLink,
  listShareLinks,
  readSharedView,
  revokeShareLink,
  type ShareLinkRow,
} from '#fulfilment/share-links/share-links.ts';

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
  const pageAnswer = { 200: jsonAnswer('A page of links.', shareLinkPage) };
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
          const { id } = params;
          const at = new Date(now());
          const expiresAt = requestedEnd(body, at);
          const message = endProblem(expiresAt, at);
          if (message !== undefined) throw invalid([{ in: 'body', field: 'expires_at', message }]);
          const esim = await requireEsimOfPath(findEsim, tx, id, caller.ownerId);
          const view = await readSharedView(tx, esim, at);
          if (view === 'cancelled' || view === 'expired') throw new Problem('esim_ended');
          const terms = { label: body.label ?? null, language: body.language ?? null, metadata: body.metadata ?? {} };
          const created = await createShareLink(
            tx,
            { esimId: id, apiKeyId: caller.lineageId, expiresAt, ...terms },
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
