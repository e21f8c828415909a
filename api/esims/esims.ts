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
  esimChange,
  esimSimulation,
} from '#api/esims/esim-schemas.ts';
import { qrCodePng, qrCodeSvg } from '#api/esims/qr-code.ts';
import { ageOf, idInPath } from '#api/fields/fields.ts';
import { type Caller, type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { bytesReply, jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageReply, timesOf } from '#api/lists/lists.ts';
import { topupOptionJson } from '#api/packages/packages.ts';
import { optionalValueOf, valueOf, Problem } from '#api/problems/problem.ts';
import { customerHash, newCustomer, readCustomer } from '#api/work/work-input.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import {
  findEsim,
  pageOfEsims,
  storeUsage,
  storedReading,
  viewEsim,
  lockEsim,
  storeCustomer,
} from '#db/esims/esim-queries.ts';
import type { EsimRow } from '#db/work/rows.ts';
import { lpaString } from '#domain/esims/activation.ts';
import { rulesInForce } from '#fulfilment/pricing/pricing-rules.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import { readUsage, esimDetails } from '#upstream/mapping/esims.ts';

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

/** The customer of an eSIM may be another than that of its order. */
function updateEsimOperation({ database, keyRing, now }: ApiDependencies): Operation {
  return operation('PATCH /v1/esims/{id}', {
    id: 'updateEsim',
    summary: 'Change the customer reference of an eSIM',
    description:
      'The eSIM has the reference of its order until then. The order keeps its own. A change is written to the audit ' +
      'log, without the reference; later top-ups take the new one.',
    scope: 'esims:write',
    params: idInPath('esim'),
    body: esimChange,
    answers: { 200: jsonAnswer('The eSIM.', esimOutput) },
    handle: async ({ params: { id }, body: { customer_reference: reference }, caller }) =>
      database.transaction(async (tx) => {
        const found = await requireEsimOfPath(viewEsim, tx, id, caller.ownerId);
        const esim = { ...found, ...(await lockEsim(tx, id)) };
        if (reference === readCustomer(keyRing, 'order', esim.orderId, esim))
          return jsonReply(200, esimJson(esim, keyRing, now()));
        const change = {
          actor: caller.apiKeyId,
          action: 'esim.customer_reference_changed',
          subject: { kind: 'esim', id },
        } as const;
        await addAuditEntry(tx, change, new Date(now()));
        const customer =
          reference === null
            ? { encryptedCustomerReference: null, customerReferenceHash: null }
            : newCustomer(keyRing, 'order', esim.orderId, reference);
        await storeCustomer(tx, id, customer);
        return jsonReply(200, esimJson({ ...esim, ...customer }, keyRing, now()));
      }),
  });
}

/** Only in the sandbox of the service. */
function simulateEsimOperation(dependencies: ApiDependencies): Operation {
  const { database, keyRing, now, service, serviceMode } = dependencies;
  return operation('POST /v1/esims/{id}/simulate', {
    id: 'simulateEsim',
    summary: 'Simulate that a phone installs, activates or uses up an eSIM, in the sandbox',
    description:
      'For tests of usage, events and refunds: the service behaves as after the act of a phone. What is new is ' +
      'stored and announced. Refused in production. The audit log contains each call.',
    scope: 'esims:write',
    params: idInPath('esim'),
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
      const esim = await database.run((db) => requireEsimOfPath(findEsim, db, id, caller.ownerId));
      if (serviceMode !== 'sandbox') throw new Problem('sandbox_only');
      const at = new Date(now());
      const entry = {
        actor: caller.apiKeyId,
        action: `esim.simulated_${state}`,
        subject: { kind: 'esim', id },
      } as const;
      // Before the call: it may take effect although its answer is lost.
      await database.run((db) => addAuditEntry(db, entry, at));
      const simulated = await service.simulateEsim(esim.serviceEsimId, state);
      if (!simulated.ok && simulated.kind === 'failure' && simulated.failure === 'invalid_request')
        throw new Problem('action_not_possible', { detail: simulated.detail });
      optionalValueOf(simulated);
      const read = { state: esimDetails(valueOf(await service.getEsim(esim.serviceEsimId))), readAt: at };
      return database.transaction(async (tx) => {
        await recordEsim(tx, esim, read, at);
        return jsonReply(200, esimJson(await requireEsimOfPath(viewEsim, tx, id, caller.ownerId), keyRing, now()));
      });
    },
  });
}
