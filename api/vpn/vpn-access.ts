import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, mayExist, ourId } from '#api/fields/ids.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { Problem } from '#api/problems/problem.ts';
import { exampleSubscriptionId } from '#api/vpn/vpn-subscription-schemas.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import { accessAad } from '#db/encryption-aads.ts';
import { vpnSubscriptionReads } from '#db/work/vpn-subscription-queries.ts';
import { vpnAccess } from '#upstream/contract.ts';

const accessOutput = z
  .strictObject({
    subscription_id: ourId('vpn_subscription', exampleSubscriptionId),
    username: z.string(),
    password: z.string(),
    server: z.string().nullable(),
    configuration: z
      .string()
      .nullable()
      .meta({ description: "Configuration for the customer's app, or an address to download it from." }),
  })
  .meta({ id: 'VpnAccess' });

const params = idInPath('vpn_subscription', exampleSubscriptionId);

/** Access data of a VPN subscription: user name, password, server. Each read is audited. */
export function vpnAccessOperation({ database, keyRing, now }: ApiDependencies): Operation {
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
        },
      },
    },
    problems: ['vpn_subscription_not_found', 'access_data_unavailable'],
    handle: async ({ params: { id }, caller }) => {
      const stored = mayExist('vpn_subscription', id)
        ? await database.run((db) => vpnSubscriptionReads.find(db, id, caller.ownerId))
        : undefined;
      if (stored === undefined) throw new Problem('vpn_subscription_not_found');
      const { encryptedAccess } = stored.row;
      if (encryptedAccess === null) throw new Problem('access_data_unavailable');
      const { username, password, server, configuration } = vpnAccess.parse(
        JSON.parse(keyRing.decryptText(encryptedAccess, accessAad(id))),
      );
      const entry = {
        actor: caller.apiKeyId,
        action: 'vpn.access_revealed',
        subject: { kind: 'vpn_subscription', id },
      } as const;
      await database.run((db) => addAuditEntry(db, entry, new Date(now())));
      return jsonReply(200, {
        subscription_id: id,
        username,
        password,
        server: server ?? null,
        configuration: configuration ?? null,
      });
    },
  });
}
