import { failure, type Finding, ok, warning } from '#cli/doctor/finding.ts';
import { withoutStop } from '#cli/doctor/service/login.ts';
import type { ServiceConfig } from '#config/config.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { heldPurchases } from '#fulfilment/readiness/conditions.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

/** Evidence about the approval that was found without a call of its own. */
export interface ApprovalEvidence {
  /** The failure of the login or of the wallet read. */
  readonly refused?: ServiceFailure | undefined;
  /** Number of purchases held because the service refused them as not approved; 0 if our database cannot be read. */
  readonly held: number;
}

/**
 * Checks whether we may buy in production. No call of the interface says so. A purchase held as not approved, or a read
 * refused as not approved, disproves it; a debit in the wallet proves it. Without any of them only a purchase would
 * show it.
 */
export async function checkApproval(
  client: Pick<ServiceClient, 'listWalletTransactions'>,
  { mode }: ServiceConfig,
  { refused, held }: ApprovalEvidence,
): Promise<Finding> {
  if (mode === 'sandbox') return ok('not needed in the sandbox');
  if (held > 0) {
    return failure(
      `the service answers purchases with 403; ${heldPurchases(held)} for it`,
      FAILURE_CLASSES.not_approved.advice,
    );
  }
  if (refused?.failure === 'not_approved') return notApproved(refused);
  const transactions = await client.listWalletTransactions({ since: 0 });
  if (!transactions.ok)
    return transactions.kind === 'failure' && transactions.failure === 'not_approved'
      ? notApproved(transactions)
      : UNKNOWN;
  return transactions.value.items.some(({ type }) => type === 'debit')
    ? ok('the wallet shows a purchase in production')
    : UNKNOWN;
}

/** Other 403s, as of a firewall, do not say that the approval is missing. */
function notApproved({ code, detail }: ServiceFailure): Finding {
  const known = 'the service has not approved this reseller; purchases are held';
  const text = code === 'not_approved' ? known : `${withoutStop(detail)}, without the code not_approved`;
  return failure(text, FAILURE_CLASSES.not_approved.advice);
}

const UNKNOWN = warning(
  'unknown: no read shows it, and the wallet shows no purchase yet',
  'Ask the service. Without the approval purchases are held; they do not fail.',
);
