/** Access data of VPN subscriptions, for their own call and for `expand=access`. */
import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { ourId } from '#api/fields/ids.ts';
import type { Caller } from '#api/http/operation.ts';
import type { Expansion } from '#api/work/expand.ts';
import { addAuditEntries } from '#db/access/audit-log.ts';
import { accessAad } from '#db/encryption-aads.ts';
import { accessOfSubscriptions } from '#db/work/vpn-subscriptions.ts';
import { vpnAccess } from '#upstream/contract.ts';

export const exampleSubscriptionId = 'vpn_01JQ8ZAF6G7H8J9K0MNPQRSTVW';

/** Access data of a VPN subscription. */
export const accessOutput = z
  .strictObject({
    subscription_id: ourId('vpn_subscription', exampleSubscriptionId),
    username: z.string().nullable(),
    password: z.string().nullable(),
    server: z.string().nullable(),
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

const accessExpansion: Expansion = {
  name: 'access',
  scope: 'vpn:reveal',
  description:
    'the access data, as `GET /v1/vpn/subscriptions/{id}/access` shows them; null until there are some. Each ' +
    'subscription whose data are shown is written to the audit log',
  embed: (dependencies, works, caller) =>
    revealAccess(
      dependencies,
      works.map(({ id }) => id),
      caller,
    ),
};

/** What answers about VPN subscriptions embed. */
export const subscriptionExpansions = [accessExpansion] as const;

/** Decrypts the access data of subscriptions. Each is audited. @returns by id, without those that have none. */
export async function revealAccess(
  { database, keyRing, now }: Pick<ApiDependencies, 'database' | 'keyRing' | 'now'>,
  ids: readonly string[],
  { apiKeyId, ownerId }: Caller,
): Promise<ReadonlyMap<string, z.input<typeof accessOutput>>> {
  const found = await database.run((db) => accessOfSubscriptions(db, ids, ownerId));
  if (found.length === 0) return new Map();
  const shown = new Map(
    found.map(({ id, access }) => [id, accessJson(id, keyRing.decryptText(access, accessAad(id)))]),
  );
  const entries = found.map(({ id }) => ({
    actor: apiKeyId,
    action: 'vpn.access_revealed',
    subject: { kind: 'vpn_subscription', id } as const,
  }));
  await database.run((db) => addAuditEntries(db, entries, new Date(now())));
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
