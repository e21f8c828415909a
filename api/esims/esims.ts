import { auditReveal } from '#api/access/audit-log.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { requireEsimOfPath, storedActivation } from '#api/esims/delivered-esim.ts';
import {
  activationJson,
  activationOutput,
  esimJson,
  esimListQuery,
  esimOutput,
  topupOptions,
  usageJson,
  usageOutput,
  esimChange,
  esimSimulation,
} from '#api/esims/esim-schemas.ts';
import { qrCodePng, qrCodeSvg } from '#api/esims/qr-code.ts';
import { ageOf, idInPath } from '#api/fields/fields.ts';
import { type Caller, type CallerRequest, type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { bytesReply, jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageOf, pageReply, timesOf } from '#api/lists/lists.ts';
import { topupOptionJson } from '#api/packages/packages.ts';
import { optionalValueOf, Problem, valueOf } from '#api/problems/problem.ts';
import { customerHash, newCustomer, readCustomer } from '#api/work/work-input.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import {
  findEsim,
  lockEsim,
  pageOfEsims,
  storeCustomer,
  storedReading,
  storeUsage,
  viewEsim,
} from '#db/esims/esim-queries.ts';
import { lpaString } from '#domain/esims/activation.ts';
import { rulesInForce } from '#fulfilment/pricing/pricing-rules.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import { readUsage, esimDetails } from '#upstream/mapping/esims.ts';

const path = idInPath('esim');

const AUDITED = 'Needs the scope `esims:reveal`. Each read is written to the audit log, and no cache stores it.';

interface QrFormat {
  readonly id: string;
  readonly ending: 'svg' | 'png';
  readonly contentType: string;
  readonly replyType?: string;
  readonly qrCode: (text: string) => Promise<string | Buffer>;
}

export function esimOperations(dependencies: ApiDependencies): Operation[] {
  const { database, keyRing, now, service, serviceMode } = dependencies;
  const read = (id: string, { ownerId }: Caller) => database.run((db) => requireEsimOfPath(findEsim, db, id, ownerId));
  /** HEAD shows nothing: it gets no activation data, and is not audited. */
  const reveal = async (id: string, { caller, isHead }: Pick<CallerRequest, 'caller' | 'isHead'>, action: string) => {
    const esim = await read(id, caller);
    if (isHead) return { esim, activation: undefined };
    const activation = storedActivation(keyRing, esim);
    await auditReveal(dependencies, { actor: caller.apiKeyId, action }, 'esim', [esim]);
    return { esim, activation };
  };
  const qrOperation = ({ id: operationId, ending, contentType, replyType = contentType, qrCode }: QrFormat) =>
    operation(`GET /v1/esims/{id}/qr.${ending}`, {
      id: operationId,
      summary: `Get the activation code as a QR code, ${ending.toUpperCase()}`,
      description: AUDITED,
      scope: 'esims:reveal',
      params: path,
      answers: { 200: { description: 'The QR code.', contentType } },
      handle: async ({ params: { id }, ...request }) => {
        const { activation } = await reveal(id, request, 'esim.qr_revealed');
        const image = activation === undefined ? '' : await qrCode(lpaString(activation));
        const headers = { 'Content-Disposition': `inline; filename="${id}.${ending}"` };
        return bytesReply(200, replyType, image, headers);
      },
    });
  return [
    operation('GET /v1/esims', {
      id: 'listEsims',
      summary: 'List eSIMs, newest first',
      scope: 'esims:read',
      query: esimListQuery,
      answers: { 200: jsonAnswer('A page of eSIMs.', pageOf(esimOutput, 'EsimPage')) },
      handle: async ({ query, caller: { ownerId } }) => {
        const filter = {
          ids: query.id,
          statuses: query.status,
          orderId: query.order_id,
          externalOrderIds: query.external_order_id,
          customerReferenceHash: customerHash(keyRing, query.customer_reference),
          iccid: query.iccid,
          packageId: query.package_id,
          ...timesOf(query),
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
        const answer = await service.getEsimUsage(serviceEsimId);
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
    // The customer of an eSIM may be another than that of its order.
    operation('PATCH /v1/esims/{id}', {
      id: 'updateEsim',
      summary: 'Change the customer reference of an eSIM',
      description:
        'The eSIM has the reference of its order until then. The order keeps its own. A change is written to the ' +
        'audit log, without the reference; later top-ups take the new one.',
      scope: 'esims:write',
      params: path,
      body: esimChange,
      answers: { 200: jsonAnswer('The eSIM.', esimOutput) },
      handle: async ({
        params: { id },
        body: { customer_reference: reference },
        caller: { apiKeyId: actor, ownerId },
      }) =>
        database.transaction(async (tx) => {
          const found = await requireEsimOfPath(viewEsim, tx, id, ownerId);
          const esim = { ...found, ...(await lockEsim(tx, id)) };
          if (reference === readCustomer(keyRing, 'order', esim.orderId, esim))
            return jsonReply(200, esimJson(esim, keyRing, now()));
          const change = { actor, action: 'esim.customer_reference_changed', subject: { kind: 'esim', id } } as const;
          await addAuditEntry(tx, change, new Date(now()));
          const customer =
            reference === null
              ? { encryptedCustomerReference: null, customerReferenceHash: null }
              : newCustomer(keyRing, 'order', esim.orderId, reference);
          await storeCustomer(tx, id, customer);
          return jsonReply(200, esimJson({ ...esim, ...customer }, keyRing, now()));
        }),
    }),
    operation('POST /v1/esims/{id}/simulate', {
      id: 'simulateEsim',
      summary: 'Simulate that a phone installs, activates or uses up an eSIM, in the sandbox',
      description:
        'For tests of usage, events and refunds: the service behaves as after the act of a phone. What is new is ' +
        'stored and announced. Refused in production. The audit log contains each call.',
      scope: 'esims:write',
      params: path,
      body: esimSimulation,
      answers: { 200: jsonAnswer('The eSIM.', esimOutput) },
      problems: [
        'sandbox_only',
        'action_not_possible',
        'service_does_not_offer',
        'service_failed',
        'service_unavailable',
        'service_timeout',
      ],
      handle: async ({ params: { id }, body: { state }, caller }) => {
        const { apiKeyId: actor, ownerId } = caller;
        const esim = await read(id, caller);
        if (serviceMode !== 'sandbox') throw new Problem('sandbox_only');
        const at = new Date(now());
        const entry = { actor, action: `esim.simulated_${state}`, subject: { kind: 'esim', id } } as const;
        // Before the call: it may take effect although its answer is lost.
        await database.run((db) => addAuditEntry(db, entry, at));
        const simulated = await service.simulateEsim(esim.serviceEsimId, state);
        if (!simulated.ok && simulated.kind === 'failure' && simulated.failure === 'invalid_request')
          throw new Problem('action_not_possible', { detail: simulated.detail });
        optionalValueOf(simulated);
        const reading = { state: esimDetails(valueOf(await service.getEsim(esim.serviceEsimId))), readAt: at };
        return database.transaction(async (tx) => {
          await recordEsim(tx, esim, reading, at);
          return jsonReply(200, esimJson(await requireEsimOfPath(viewEsim, tx, id, ownerId), keyRing, now()));
        });
      },
    }),
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
        const { items } = valueOf(await service.listTopupOptions(serviceEsimId));
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
    qrOperation({
      id: 'getEsimQrSvg',
      ending: 'svg',
      contentType: 'image/svg+xml',
      replyType: 'image/svg+xml; charset=utf-8',
      qrCode: qrCodeSvg,
    }),
    qrOperation({ id: 'getEsimQrPng', ending: 'png', contentType: 'image/png', qrCode: qrCodePng }),
  ];
}
