/** Checks the service's answers with free reads, before anything is bought. */
import type { Sighting } from '#domain/gate/first-purchase-check.ts';
import type { Capabilities } from '#domain/service/capability-profile.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';
import {
  type ContractReport,
  type Finding,
  type JsonObject,
  VALUES_NOT_LISTED,
  checkContract,
  isBreaking,
} from '#upstream/contract-check.ts';
import type { EndpointName, EventKind } from '#upstream/contract.ts';
import {
  type ListedPurchaseCheck,
  UNIT_UNKNOWN,
  checkListedOrder,
  checkListedSubscription,
  checkListedTopup,
} from '#upstream/first-purchase-check/listed-purchases.ts';
import {
  type DebitNaming,
  type FirstPurchaseCheckClient,
  type PriceList,
  debitsOf,
  failedCall,
  priceIn,
  problemsOf,
  readFree,
} from '#upstream/first-purchase-check/reads.ts';
import { isOfOrder } from '#upstream/mapping/wallet-movements.ts';

export interface LookOptions {
  readonly kinds: readonly PurchaseKind[];
  readonly capabilities: Capabilities;
  readonly deadlineMs: number;
  /** Without it, the document is downloaded. */
  readonly document?: JsonObject;
  readonly signal?: AbortSignal;
}

/** Spends nothing. Never throws. Returns only kinds that were checked completely. */
export async function lookAtService(
  client: FirstPurchaseCheckClient,
  { kinds, capabilities, deadlineMs, document, signal }: LookOptions,
): Promise<ReadonlyMap<PurchaseKind, Sighting>> {
  if (kinds.length === 0) return new Map();
  const described = await readDocument(client, capabilities, document);
  const lists = new Set(kinds.map((kind) => PURCHASE_CHECKS[kind].priceList));
  const reads = await readFree(client, lists, deadlineMs, signal);
  const sightings = new Map<PurchaseKind, Sighting>();
  if (reads === undefined) return sightings;
  for (const kind of kinds) {
    if (signal?.aborted === true) return sightings;
    const check = PURCHASE_CHECKS[kind];
    const debits = debitsOf(check.debits, reads.movements);
    const listed = await check.listed(client, debits, (productId) => priceIn(reads, check.priceList, productId));
    const differences = described.kind === 'read' ? documentProblems(described.report, kind) : [];
    const unlisted = described.kind === 'read' ? unlistedValues(described.report, kind) : [];
    const matches = described.kind === 'read' && differences.length + unlisted.length === 0;
    sightings.set(kind, {
      problems: [
        ...problemsOf(reads, check.priceList),
        ...(listed.kind === 'differs' ? [listed.problem] : []),
        ...differences,
      ],
      evidence: [
        // A document cannot show whether the wallet counts in the unit of the prices.
        ...(matches ? [documentEvidence(described.report, kind) + (listed.kind === 'unseen' ? UNIT_UNKNOWN : '')] : []),
        ...(listed.kind === 'seen' ? [listed.evidence] : []),
      ],
      byDocumentAlone: matches && listed.kind !== 'seen',
      missing: [
        ...(described.kind === 'none' ? [described.reason] : unlisted),
        ...(listed.kind === 'unseen' ? [listed.reason] : []),
      ],
    });
  }
  return sightings;
}

type Described =
  | { readonly kind: 'read'; readonly report: ContractReport }
  | { readonly kind: 'none'; readonly reason: string };

async function readDocument(
  client: FirstPurchaseCheckClient,
  capabilities: Capabilities,
  document: JsonObject | undefined,
): Promise<Described> {
  if (document !== undefined) return { kind: 'read', report: checkContract(document, capabilities) };
  const answer = await client.getOpenApi();
  if (answer.ok) return { kind: 'read', report: checkContract(answer.value, capabilities) };
  return { kind: 'none', reason: failedCall('getOpenApi', answer) };
}

function documentProblems({ findings, calls, events }: ContractReport, kind: PurchaseKind): readonly string[] {
  const needs = PURCHASE_CHECKS[kind];
  const inCalls = calls
    .filter(({ name }) => needs.calls.includes(name))
    .flatMap(({ method, path, findings }) =>
      findings.filter(isBreaking).map((finding) => `${method} ${path}: ${clause(finding)}`),
    );
  const inEvents = events
    .filter(({ event }) => needs.events.includes(event))
    .flatMap(({ event, findings }) =>
      findings.filter(isBreaking).map((finding) => `event ${event}: ${clause(finding)}`),
    );
  // Header names of webhooks are ignored here: a purchase is safe without webhooks.
  const inDocument = findings
    .filter(isBreaking)
    .filter(({ part }) => part !== 'event headers')
    .map((finding) => `${finding.part} ${clause(finding)}`);
  return [...inDocument, ...inCalls, ...inEvents].map((problem) => `${problem} (OpenAPI document)`);
}

/** Such a document may be compatible, but does not show that a paid order can be read. */
function unlistedValues({ calls }: ContractReport, kind: PurchaseKind): readonly string[] {
  return calls
    .filter(({ name }) => PURCHASE_CHECKS[kind].calls.includes(name))
    .flatMap(({ method, path, findings }) =>
      findings
        .filter(({ message, name }) => message === VALUES_NOT_LISTED && name?.endsWith('status') === true)
        .map((finding) => `${method} ${path}: ${clause(finding)} (OpenAPI document)`),
    );
}

function documentEvidence({ calls }: ContractReport, kind: PurchaseKind): string {
  const { calls: needed } = PURCHASE_CHECKS[kind];
  const compared = calls.filter(({ name, status }) => needed.includes(name) && status !== 'switched_off');
  return `the OpenAPI document of the service has the ${compared.length} calls as the contract has them`;
}

function clause({ part, name, message }: Finding): string {
  const place = part === 'request' || part === 'answer' ? `${part} ` : '';
  return `${place}${name === undefined ? '' : `${name} `}${message}`;
}

interface PurchaseCheck {
  readonly calls: readonly EndpointName[];
  readonly events: readonly EventKind[];
  /** The options of a top-up have the shape of packages. */
  readonly priceList: PriceList;
  readonly debits: DebitNaming;
  readonly listed: ListedPurchaseCheck;
}

/** Every purchase logs in, and is settled by the wallet. */
const OF_ALL = ['login', 'getWallet', 'listWalletTransactions'] as const satisfies readonly EndpointName[];

export const PURCHASE_CHECKS: Readonly<Record<PurchaseKind, PurchaseCheck>> = {
  order: {
    calls: [...OF_ALL, 'listPackages', 'createOrder', 'getOrder', 'listOrders', 'getEsim'],
    events: ['order.completed', 'order.processing', 'order.failed'],
    priceList: 'listPackages',
    debits: {
      fields: ['order_id', 'external_order_id'],
      isOf: ({ id, reference = null }, debit) => isOfOrder({ serviceId: id, reference }, debit),
    },
    listed: checkListedOrder,
  },
  topup: {
    calls: [...OF_ALL, 'listTopupOptions', 'createTopup', 'getTopup', 'listTopups'],
    events: ['topup.completed', 'topup.processing', 'topup.failed'],
    priceList: 'listPackages',
    debits: { fields: ['topup_id'], isOf: ({ id }, { topup_id: named }) => named === id },
    listed: checkListedTopup,
  },
  vpn_subscription: {
    calls: [...OF_ALL, 'listVpnPlans', 'createVpnOrder', 'getVpnSubscription', 'listVpnSubscriptions'],
    events: [
      'vpn.subscription.active',
      'vpn.subscription.cancelled',
      'vpn.subscription.expired',
      'vpn.subscription.failed',
    ],
    priceList: 'listVpnPlans',
    debits: {
      fields: ['vpn_subscription_id', 'external_subscription_id'],
      isOf: ({ id, reference }, debit) => {
        const { vpn_subscription_id: named, external_subscription_id: namedReference } = debit;
        return named === id || (namedReference != null && namedReference === reference);
      },
    },
    listed: checkListedSubscription,
  },
};
