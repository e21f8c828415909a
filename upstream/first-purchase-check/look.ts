import type { Sighting } from '#domain/gate/first-purchase-check.ts';
import type { Capabilities } from '#domain/service/capability-profile.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { checkContract, type ContractReport, type JsonObject } from '#upstream/contract-check.ts';
import { failedCall } from '#upstream/first-purchase-check/call-name.ts';
import { debitsOf } from '#upstream/first-purchase-check/debits.ts';
import { documentEvidence, documentProblems, unlistedValues } from '#upstream/first-purchase-check/document.ts';
import { FreeReads, type FreeReadClient } from '#upstream/first-purchase-check/free-reads.ts';
import { PURCHASE_CHECKS } from '#upstream/first-purchase-check/kinds.ts';
import { UNIT_UNKNOWN, type PurchaseReads } from '#upstream/first-purchase-check/listed-purchases.ts';

/** The calls of this check. None of them buys, cancels or changes anything. */
export type FirstPurchaseCheckClient = PurchaseReads & FreeReadClient & Pick<ServiceClient, 'getOpenApi'>;

export interface LookOptions {
  /** The kinds to check; calls of other kinds are not made. */
  readonly kinds: readonly PurchaseKind[];
  readonly capabilities: Capabilities;
  /** Milliseconds for the list of the wallet's movements. */
  readonly deadlineMs: number;
  /** A document of the service, provided by an operator. Without it, the document is downloaded. */
  readonly document?: JsonObject;
  /** Stops the check between two calls. */
  readonly signal?: AbortSignal;
}

/**
 * Checks the shapes of the service's answers without spending anything. Never throws.
 *
 * @returns the result of each kind that was checked completely.
 */
export async function lookAtService(
  client: FirstPurchaseCheckClient,
  { kinds, capabilities, deadlineMs, document, signal }: LookOptions,
): Promise<ReadonlyMap<PurchaseKind, Sighting>> {
  if (kinds.length === 0) return new Map();
  const described = await readDocument(client, capabilities, document);
  const reads = new FreeReads(client, deadlineMs);
  const sightings = new Map<PurchaseKind, Sighting>();
  const isStopped = () => signal?.aborted === true;
  for (const kind of kinds) {
    if (isStopped()) return sightings;
    const check = PURCHASE_CHECKS[kind];
    const unread = await reads.problems(check.priceList, signal);
    if (isStopped()) return sightings;
    const debits = await debitsOf(check.debits, reads.movements);
    const listed = await check.listed(client, debits, (productId) => reads.priceOf(check.priceList, productId));
    const differences = described.kind === 'read' ? documentProblems(described.report, kind) : [];
    const unlisted = described.kind === 'read' ? unlistedValues(described.report, kind) : [];
    const matches = described.kind === 'read' && differences.length + unlisted.length === 0;
    sightings.set(kind, {
      problems: [...unread, ...(listed.kind === 'differs' ? [listed.problem] : []), ...differences],
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
