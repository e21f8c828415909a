import type { Capabilities } from '#domain/capabilities.ts';
import type { PurchaseKind, Sighting } from '#domain/first-contact.ts';
import type { Listing, ServiceClient } from '#upstream/client.ts';
import { checkContract, type ContractReport, type JsonObject } from '#upstream/contract-check.ts';
import { PURCHASE_NEEDS, type EndpointName } from '#upstream/contract.ts';
import type { ServiceResult } from '#upstream/error-mapping.ts';
import { callName, failedCall } from '#upstream/first-contact/call-name.ts';
import { documentProblems } from '#upstream/first-contact/document.ts';
import { LISTED_PURCHASES, type PurchaseReads } from '#upstream/first-contact/purchases.ts';

/** The calls of a look. None of them buys, cancels or changes anything. */
export type FirstContactClient = PurchaseReads &
  Pick<ServiceClient, 'getOpenApi' | 'getWallet' | 'listPackages' | 'listVpnPlans' | 'listWalletTransactions'>;

export interface LookOptions {
  /** What is looked at; calls of other kinds are not made. */
  readonly kinds: readonly PurchaseKind[];
  readonly capabilities: Capabilities;
  /** Milliseconds for the list of the wallet's movements. */
  readonly deadlineMs: number;
  /** A document of the service that was got by hand; without it the service is asked for its own. */
  readonly document?: JsonObject;
  /** Ends the look between two calls. */
  readonly signal?: AbortSignal;
}

/**
 * Looks at the service without spending anything. Never throws.
 *
 * @returns for each kind what was seen; without the kinds that were not looked at to the end.
 */
export async function lookAtService(
  client: FirstContactClient,
  { kinds, capabilities, deadlineMs, document, signal }: LookOptions,
): Promise<ReadonlyMap<PurchaseKind, Sighting>> {
  if (kinds.length === 0) return new Map();
  const described = await readDocument(client, capabilities, document);
  const reads = freeReads(client, deadlineMs);
  const sightings = new Map<PurchaseKind, Sighting>();
  for (const kind of kinds) {
    const unread: string[] = [];
    for (const name of FREE_READS[kind]) {
      if (signal?.aborted === true) return sightings;
      const problem = await reads(name);
      if (problem !== undefined) unread.push(problem);
    }
    if (signal?.aborted === true) return sightings;
    const listed = await LISTED_PURCHASES[kind](client);
    const differences = described.kind === 'read' ? documentProblems(described.report, kind) : [];
    const matches = described.kind === 'read' && differences.length === 0;
    const needed = PURCHASE_NEEDS[kind].calls.length;
    sightings.set(kind, {
      problems: [...unread, ...(listed.kind === 'differs' ? [listed.problem] : []), ...differences],
      evidence: [
        ...(matches ? [`the OpenAPI document of the service has the ${needed} calls as the contract has them`] : []),
        ...(listed.kind === 'seen' ? [listed.evidence] : []),
      ],
      missing: [
        ...(described.kind === 'none' ? [described.reason] : []),
        ...(listed.kind === 'unseen' ? [listed.reason] : []),
      ],
    });
  }
  return sightings;
}

type Described =
  { readonly kind: 'read'; readonly report: ContractReport } | { readonly kind: 'none'; readonly reason: string };

async function readDocument(
  client: FirstContactClient,
  capabilities: Capabilities,
  document: JsonObject | undefined,
): Promise<Described> {
  if (document !== undefined) return { kind: 'read', report: checkContract(document, capabilities) };
  const answer = await client.getOpenApi();
  if (answer.ok) return { kind: 'read', report: checkContract(answer.value, capabilities) };
  return { kind: 'none', reason: failedCall('getOpenApi', answer) };
}

/**
 * What of {@link PURCHASE_NEEDS} can be read before anything was bought. The options of a top-up have the shape of
 * packages.
 */
const FREE_READS = {
  order: ['listPackages', 'getWallet', 'listWalletTransactions'],
  topup: ['listPackages', 'getWallet', 'listWalletTransactions'],
  vpn_subscription: ['listVpnPlans', 'getWallet', 'listWalletTransactions'],
} as const satisfies Record<PurchaseKind, readonly EndpointName[]>;

type FreeRead = (typeof FREE_READS)[PurchaseKind][number];

/** Each read is made once. @returns what is wrong with it, as a clause; undefined when nothing is. */
function freeReads(client: FirstContactClient, deadlineMs: number): (name: FreeRead) => Promise<string | undefined> {
  const make: Readonly<Record<FreeRead, () => Promise<string | undefined>>> = {
    listPackages: async () => offers('listPackages', await client.listPackages()),
    listVpnPlans: async () => offers('listVpnPlans', await client.listVpnPlans()),
    getWallet: async () => {
      const wallet = await client.getWallet();
      return wallet.ok ? undefined : failedCall('getWallet', wallet);
    },
    listWalletTransactions: async () => {
      const movements = await client.listWalletTransactions({ since: 0 }, { maxPages: 1, deadlineMs });
      if (movements.ok || movements.kind === 'unsupported') return undefined;
      return failedCall('listWalletTransactions', movements);
    },
  };
  const made = new Map<FreeRead, Promise<string | undefined>>();
  return async (name) => {
    const reading = made.get(name) ?? make[name]();
    made.set(name, reading);
    return await reading;
  };
}

/** An empty list shows no shape. */
function offers(name: EndpointName, result: ServiceResult<Listing<unknown>>): string | undefined {
  if (!result.ok) return failedCall(name, result);
  return result.value.items.length > 0 ? undefined : `${callName(name)}: the list is empty, so no price was read`;
}
