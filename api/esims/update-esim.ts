import type { ApiDependencies } from '#api/dependencies.ts';
import { requireEsimOfPath } from '#api/esims/delivered-esim.ts';
import { esimChange, esimJson, esimOutput, esimSimulation } from '#api/esims/esim-schemas.ts';
import { idInPath } from '#api/fields/fields.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { optionalValueOf, Problem, valueOf } from '#api/problems/problem.ts';
import { newCustomer, readCustomer } from '#api/work/work-input.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import { findEsim, lockEsim, storeCustomer, viewEsim } from '#db/esims/esim-queries.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import { esimDetails } from '#upstream/mapping/esims.ts';

/** The customer of an eSIM may be another than that of its order. */
export function updateEsimOperation({ database, keyRing, now }: ApiDependencies): Operation {
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
export function simulateEsimOperation(dependencies: ApiDependencies): Operation {
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
