/**
 * Holds the first purchases of a kind until the service's answers were seen. Cancellations spend nothing: never held.
 */
import { capitalized } from '#domain/text.ts';
import { KINDS, type PurchaseKind } from '#domain/work/kinds.ts';

/** `problems` keep purchases held, even with evidence. `byDocumentAlone`: no purchase of the kind was seen. */
export interface Sighting {
  readonly problems: readonly string[];
  readonly evidence: readonly string[];
  readonly byDocumentAlone?: boolean;
  readonly missing: readonly string[];
}

export type FirstPurchaseCheck =
  | { readonly kind: 'seen'; readonly evidence: string; readonly byDocumentAlone?: boolean }
  | { readonly kind: 'unseen'; readonly reason: string };

/** The text is repeated with every held piece of work. */
const MOST_CLAUSES = 4;
const LONGEST_CLAUSE = 180;

export function judgeFirstPurchaseCheck(
  kind: PurchaseKind,
  { problems, evidence, missing, byDocumentAlone = false }: Sighting,
): FirstPurchaseCheck {
  if (problems.length === 0 && evidence.length > 0)
    return { kind: 'seen', evidence: capitalized(listed(evidence)), ...(byDocumentAlone && { byDocumentAlone }) };
  return {
    kind: 'unseen',
    reason: problems.length > 0 ? heldReason(kind, problems, ADAPT) : heldReason(kind, missing),
  };
}

export function notLookedYet(kind: PurchaseKind): string {
  return heldReason(kind, ['The worker looks at the service now']);
}

export const FIRST_PURCHASE_CHECK_ADVICE =
  'Run `npx reseller sandbox tour` against the sandbox and confirm its profile here, or ' +
  '`npx reseller contract check openapi.json --record` with the OpenAPI document of the service; ' +
  'or release the pause with `npx reseller gate release` to buy all the same.';

const ADAPT = 'Adapt the contract to it, as docs/how-to/when-the-real-document-arrives.md says.';

function heldReason(kind: PurchaseKind, clauses: readonly string[], ...first: readonly string[]): string {
  const fact = `The shapes of the service's answers have not been seen for ${nounOf(kind)}.`;
  return [fact, listed(clauses), ...first, FIRST_PURCHASE_CHECK_ADVICE].join(' ');
}

export function nounOf(kind: PurchaseKind): string {
  return `${KINDS[kind].noun}s`;
}

/** Some clauses quote the service's own document, so their number, length and characters are limited. */
function listed(clauses: readonly string[]): string {
  const named = clauses.slice(0, MOST_CLAUSES).map((clause) => {
    const plain = clause.replaceAll(/\p{C}/gu, '?').replace(/\.$/, '');
    return `${plain.length <= LONGEST_CLAUSE ? plain : `${plain.slice(0, LONGEST_CLAUSE - 1)}…`}.`;
  });
  const rest = clauses.length - named.length;
  return [...named, ...(rest > 0 ? [`There are ${rest} more.`] : [])].join(' ');
}
