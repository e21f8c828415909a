import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, mayExist } from '#api/fields/ids.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { Problem } from '#api/problems/problem.ts';
import { accessOutput, exampleSubscriptionId, revealAccess } from '#api/vpn/revealed-access.ts';
import { accessOfSubscriptions, vpnSubscriptionReads } from '#db/work/vpn-subscriptions.ts';

const params = idInPath('vpn_subscription', exampleSubscriptionId);

/** Access data of a VPN subscription: user name and password, or a licence key. Each read is audited. */
export function vpnAccessOperation(dependencies: ApiDependencies): Operation {
  return operation({
    id: 'getVpnAccess',
    method: 'get',
    path: '/v1/vpn/subscriptions/{id}/access',
    tag: 'VPN',
    summary: "Get the access data for the customer's device",
    description: 'Needs the scope `vpn:reveal`. Each read is written to the audit log, and no cache stores it.',
    scope: 'vpn:reveal',
    params,
    answers: {
      200: {
        description: 'The access data.',
        contentType: 'application/json',
        schema: accessOutput,
        example: {
          subscription_id: exampleSubscriptionId,
          username: 'u-5120',
          password: 'not-a-real-one',
          server: 'vpn.example.com',
          configuration: null,
          licence_key: null,
        },
      },
    },
    problems: ['vpn_subscription_not_found', 'access_data_unavailable'],
    handle: async ({ params: { id }, caller, isHead }) => {
      const stored = mayExist('vpn_subscription', id)
        ? await dependencies.database.run((db) => vpnSubscriptionReads.find(db, id, caller.ownerId))
        : undefined;
      if (stored === undefined) throw new Problem('vpn_subscription_not_found');
      // HEAD reveals nothing.
      const access = isHead
        ? (await dependencies.database.run((db) => accessOfSubscriptions(db, [id], caller.ownerId)))[0] && {}
        : (await revealAccess(dependencies, [id], caller)).get(id);
      if (access === undefined) throw new Problem('access_data_unavailable');
      return jsonReply(200, access);
    },
  });
}
