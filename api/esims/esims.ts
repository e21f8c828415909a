import type { ApiDependencies } from '#api/dependencies.ts';
import { requireEsimOfPath, storedActivation } from '#api/esims/delivered-esim.ts';
import {
  activationJson,
  activationOutput,
  esimJson,
  esimListQuery,
  esimOutput,
  esimPage,
  topupOptions,
  usageJson,
  usageOutput,
} from '#api/esims/esim-schemas.ts';
import { qrCodePng, qrCodeSvg } from '#api/esims/qr-code.ts';
import { simulateEsimOperation, updateEsimOperation } from '#api/esims/update-esim.ts';
import { ageOf, idInPath } from '#api/fields/fields.ts';
import { type Caller, type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { bytesReply, jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageReply } from '#api/lists/lists.ts';
import { topupOptionJson } from '#api/packages/packages.ts';
import { optionalValueOf, valueOf } from '#api/problems/problem.ts';
import { customerHash } from '#api/work/work-input.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import { findEsim, pageOfEsims, storeUsage, storedReading, viewEsim } from '#db/esims/esim-queries.ts';
import type { EsimRow } from '#db/work/rows.ts';
import { lpaString } from '#domain/esims/activation.ts';
import { rulesInForce } from '#fulfilment/pricing/pricing-rules.ts';
import { readUsage } from '#upstream/mapping/esims.ts';

const path = idInPath('esim');

const AUDITED = 'Needs the scope `esims:reveal`. Each read is written to the audit log, and no cache stores it.';

/** Each read of an activation code is audited. */
export function esimOperations(dependencies: ApiDependencies): Operation[] {
  const { database, keyRing, now } = dependencies;
  const read = (id: string, { ownerId }: Caller): Promise<EsimRow> =>
    database.run((db) => requireEsimOfPath(findEsim, db, id, ownerId));
  /** HEAD shows nothing: it gets no activation data, and is not audited. */
  const reveal = async (
    id: string,
    { caller, isHead }: { readonly caller: Caller; readonly isHead: boolean },
    action: string,
  ) => {
    const esim = await read(id, caller);
    if (isHead) return { esim, activation: undefined };
    const activation = storedActivation(dependencies.keyRing, esim);
    await database.run((db) =>
      addAuditEntry(db, { actor: caller.apiKeyId, action, subject: { kind: 'esim', id } }, new Date(now())),
    );
    return { esim, activation };
  };
  return [
    operation('GET /v1/esims', {
      id: 'listEsims',
      summary: 'List eSIMs, newest first',
      scope: 'esims:read',
      query: esimListQuery,
      answers: { 200: jsonAnswer('A page of eSIMs.', esimPage) },
      handle: async ({ query, caller: { ownerId } }) => {
        const filter = {
          ids: query.id,
          statuses: query.status,
          orderId: query.order_id,
          externalOrderIds: query.external_order_id,
          customerReferenceHash: customerHash(keyRing, query.customer_reference),
          iccid: query.iccid,
          packageId: query.package_id,
          createdAfter: query.created_after,
          createdBefore: query.created_before,
          updatedAfter: query.updated_after,
        };
        return pageReply(
          query,
          CURSORS.esim,
          (at) => database.run((db) => pageOfEsims(db, ownerId, filter, at)),
          (esim) => esimJson(esim, keyRing, now()),
        );
      },
    }),
    operation('GET /v1/esims/{id}/usage', {
      id: 'getEsimUsage',
      summary: 'Read the data usage of an eSIM',
      description:
        'Read from the service at each call; `measured_at` is the time of the measurement. If the service cannot be ' +
        'read, the newest stored value (`source`: `stored`), with its age.',
      scope: 'esims:read',
      params: path,
      answers: { 200: jsonAnswer('The usage.', usageOutput) },
      problems: ['service_does_not_offer', 'service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ params: { id }, caller }) => {
        const { serviceEsimId } = await read(id, caller);
        const readAt = new Date(now());
        const answer = await dependencies.service.getEsimUsage(serviceEsimId);
        if (answer.ok) {
          const reading = readUsage(answer.value, readAt);
          await database.run((db) => storeUsage(db, id, reading));
          return jsonReply(200, usageJson(id, reading, 'service', now()));
        }
        const stored = await database.run((db) => storedReading(db, id));
        // Fall back to the stored values, which have their age.
        if (stored === undefined) return optionalValueOf(answer);
        return jsonReply(200, usageJson(id, stored, 'stored', now()));
      },
    }),
    operation('GET /v1/esims/{id}', {
      id: 'getEsim',
      summary: 'Read an eSIM and its installation facts',
      scope: 'esims:read',
      params: path,
      answers: { 200: jsonAnswer('The eSIM.', esimOutput) },
      handle: async ({ params: { id }, caller: { ownerId } }) => {
        const esim = await database.run((db) => requireEsimOfPath(viewEsim, db, id, ownerId));
        return jsonReply(200, esimJson(esim, keyRing, now()));
      },
    }),
    updateEsimOperation(dependencies),
    simulateEsimOperation(dependencies),
    operation('GET /v1/esims/{id}/topup-options', {
      id: 'listTopupOptions',
      summary: 'List the top-up options of an eSIM',
      description: 'Read from the service at each call. `POST /v1/topups` accepts one of them.',
      scope: 'esims:read',
      params: path,
      answers: { 200: jsonAnswer('All options, by id.', topupOptions) },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ params: { id }, caller }) => {
        const { serviceEsimId } = await read(id, caller);
        const { items } = valueOf(await dependencies.service.listTopupOptions(serviceEsimId));
        const rules = await database.run(rulesInForce);
        const data = items.toSorted((left, right) => left.id - right.id).map((each) => topupOptionJson(each, rules));
        return jsonReply(200, { data, ...ageOf(now(), now()) });
      },
    }),
    operation('GET /v1/esims/{id}/activation', {
      id: 'getEsimActivation',
      summary: 'Read the activation data of an eSIM',
      description: AUDITED,
      scope: 'esims:reveal',
      params: path,
      answers: { 200: jsonAnswer('The activation code and its parts.', activationOutput) },
      handle: async ({ params: { id }, ...request }) => {
        const { esim, activation } = await reveal(id, request, 'esim.activation_revealed');
        return jsonReply(200, activation === undefined ? {} : activationJson(esim, activation));
      },
    }),
    operation('GET /v1/esims/{id}/qr.svg', {
      id: 'getEsimQrSvg',
      summary: 'Get the activation code as a QR code, SVG',
      description: AUDITED,
      scope: 'esims:reveal',
      params: path,
      answers: { 200: { description: 'The QR code.', contentType: 'image/svg+xml' } },
      handle: async ({ params: { id }, ...request }) => {
        const { activation } = await reveal(id, request, 'esim.qr_revealed');
        const svg = activation === undefined ? '' : await qrCodeSvg(lpaString(activation));
        return bytesReply(200, 'image/svg+xml; charset=utf-8', svg, fileName(`${id}.svg`));
      },
    }),
    operation('GET /v1/esims/{id}/qr.png', {
      id: 'getEsimQrPng',
      summary: 'Get the activation code as a QR code, PNG',
      description: AUDITED,
      scope: 'esims:reveal',
      params: path,
      answers: { 200: { description: 'The QR code.', contentType: 'image/png' } },
      handle: async ({ params: { id }, ...request }) => {
        const { activation } = await reveal(id, request, 'esim.qr_revealed');
        const png = activation === undefined ? '' : await qrCodePng(lpaString(activation));
        return bytesReply(200, 'image/png', png, fileName(`${id}.png`));
      },
    }),
  ];
}

function fileName(name: string): Record<string, string> {
  return { 'Content-Disposition': `inline; filename="${name}"` };
}
