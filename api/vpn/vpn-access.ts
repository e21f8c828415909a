import * as z from 'zod';
import { auditReveal } from '#api/access/audit-log.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, ourId } from '#api/fields/fields.ts';
import { type Caller, jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { requireFound } from '#api/problems/problem.ts';
import type { Expansion } from '#api/work/expand.ts';
import { accessAad } from '#db/encryption-aads.ts';
import { accessOfSubscriptions, vpnSubscriptionReads } from '#db/work/vpn-subscriptions.ts';
import { vpnAccess } from '#upstream/contract.ts';

export const accessOutput = z
  .strictObject({
    subscription_id: ourId('vpn_subscription'),
    username: z.string().nullable().meta({ example: 'u-5120' }),
    password: z.string().nullable().meta({ example: 'not-a-real-one' }),
    server: z.string().nullable().meta({ example: 'vpn.example.com' }),
    configuration: z
      .string()
      .nullable()
      .meta({ description: "Configuration for the customer's app, or an address to download it from." }),
    licence_key: z
      .string()
      .nullable()
      .meta({ description: 'A key for the app, from services that give no user name and password.' }),
  })
  .meta({ id: 'VpnAccess' });

export const subscriptionExpansions: readonly Expansion[] = [
  {
    name: 'access',
    scope: 'vpn:reveal',
    description:
      'the access data, as `GET /v1/vpn/subscriptions/{id}/access` shows them; null until there are some. Each ' +
      'subscription whose data are shown is written to the audit log',
    embed: revealAccess,
  },
];

/** Writes an audit entry for each. */
async function revealAccess(
  dependencies: Pick<ApiDependencies, 'database' | 'keyRing' | 'now'>,
  subscriptions: readonly { readonly id: string }[],
  { apiKeyId, ownerId }: Caller,
): Promise<ReadonlyMap<string, z.input<typeof accessOutput>>> {
  const { database, keyRing } = dependencies;
  const ids = subscriptions.map(({ id }) => id);
  const found = await database.run((db) => accessOfSubscriptions(db, ids, ownerId));
  if (found.length === 0) return new Map();
  const shown = new Map(
    found.map(({ id, access }) => [id, accessJson(id, keyRing.decryptText(access, accessAad(id)))]),
  );
  await auditReveal(dependencies, { actor: apiKeyId, action: 'vpn.access_revealed' }, 'vpn_subscription', found);
  return shown;
}

function accessJson(id: string, text: string): z.input<typeof accessOutput> {
  const { username, password, server, configuration, licence_key } = vpnAccess.parse(JSON.parse(text));
  return {
    subscription_id: id,
    username: username ?? null,
    password: password ?? null,
    server: server ?? null,
    configuration: configuration ?? null,
    licence_key: licence_key ?? null,
  };
}

export function vpnAccessOperation(dependencies: ApiDependencies): Operation {
  const { database } = dependencies;
  return operation('GET /v1/vpn/subscriptions/{id}/access', {
    id: 'getVpnAccess',
    summary: "Get the access data for the customer's device",
    description: 'Needs the scope `vpn:reveal`. Each read is written to the audit log, and no cache stores it.',
    scope: 'vpn:reveal',
    params: idInPath('vpn_subscription'),
    answers: { 200: jsonAnswer('The access data.', accessOutput) },
    problems: ['access_data_unavailable'],
    handle: async ({ params: { id }, caller, isHead }) => {
      const stored = await database.run((db) => vpnSubscriptionReads.find(db, id, caller.ownerId));
      requireFound(stored, 'vpn_subscription_not_found');
      // HEAD reveals nothing.
      const access = isHead
        ? (await database.run((db) => accessOfSubscriptions(db, [id], caller.ownerId)))[0] && {}
        : (await revealAccess(dependencies, [{ id }], caller)).get(id);
      return jsonReply(200, requireFound(access, 'access_data_unavailable'));
    },
  });
}
