import type { ApiDependencies } from '#api/dependencies.ts';
import {
  esimChange,
  esimChangeExample,
  esimExample,
  esimExampleId,
  esimJson,
  esimOutput,
} from '#api/esims/esim-schemas.ts';
import { requireEsimOfPath } from '#api/esims/require-esim.ts';
import { idInPath } from '#api/fields/ids.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { newCustomer, readCustomer } from '#api/work/customer-reference.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import { lockEsim, storeCustomer, viewEsim } from '#db/esims/esim-queries.ts';

/** Changes the customer of an eSIM, who may be another than that of its order. */
export function updateEsimOperation({ database, keyRing, now }: ApiDependencies): Operation {
  return operation({
    id: 'updateEsim',
    method: 'patch',
    path: '/v1/esims/{id}',
    tag: 'eSIMs',
    summary: 'Change the customer reference of an eSIM',
    description:
      'The eSIM has the reference of its order until then. The order keeps its own. A change is written to the audit ' +
      'log, without the reference; later top-ups take the new one.',
    scope: 'esims:write',
    params: idInPath('esim', esimExampleId),
    body: esimChange,
    bodyExample: esimChangeExample,
    answers: {
      200: {
        description: 'The eSIM.',
        contentType: 'application/json',
        schema: esimOutput,
        example: { ...esimExample, ...esimChangeExample },
      },
    },
    problems: ['esim_not_found'],
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
