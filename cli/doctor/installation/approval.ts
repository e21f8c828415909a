import { failure, type Finding, ok, warning } from '#cli/doctor/finding.ts';
import type { ServiceConfig } from '#config/config.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { heldPurchases } from '#fulfilment/conditions/account-conditions.ts';
import type { ServiceClient } from '#upstream/client.ts';

const NOT_APPROVED = failure(
  'the service has not approved this reseller; purchases are held',
  FAILURE_CLASSES.not_approved.advice,
);

/** What is known of it without asking. */
export interface KnownOfApproval {
  /** The class of failure of the wallet read, where it failed. */
  readonly walletRefused?: string | undefined;
  /** How many purchases are held because the service has said no to them; 0 where our database could not be asked. */
  readonly held: number;
}

/**
 * May we buy in production? No call of the interface says so. A purchase that is held for it, and a read that is
 * refused for it, prove the opposite; a debit in the wallet proves it. Where there is none of them, only a purchase
 * would tell.
 */
export async function checkApproval(
  client: Pick<ServiceClient, 'listWalletTransactions'>,
  { mode }: ServiceConfig,
  { walletRefused, held }: KnownOfApproval,
): Promise<Finding> {
  if (mode === 'sandbox') return ok('not needed in the sandbox');
  if (held > 0) {
    return failure(
      `the service has not approved this reseller; ${heldPurchases(held)} for it`,
      FAILURE_CLASSES.not_approved.advice,
    );
  }
  if (walletRefused === 'not_approved') return NOT_APPROVED;
  const transactions = await client.listWalletTransactions({ since: 0 });
  if (!transactions.ok) {
    return transactions.kind === 'failure' && transactions.failure === 'not_approved' ? NOT_APPROVED : UNKNOWN;
  }
  return transactions.value.items.some(({ type }) => type === 'debit')
    ? ok('the wallet shows a purchase in production')
    : UNKNOWN;
}

const UNKNOWN = warning(
  'unknown: no read shows it, and the wallet shows no purchase yet',
  'Ask the service. Without it purchases are held, not failed.',
);
