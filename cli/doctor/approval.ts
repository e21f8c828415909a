import { FAILURE_CLASSES } from '#domain/failure.ts';
import type { ServiceConfig } from '#config/config.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { failure, type Finding, ok, warning } from '#cli/doctor/finding.ts';

const NOT_APPROVED = failure(
  'the service has not approved this reseller; purchases are held',
  FAILURE_CLASSES.not_approved.advice,
);

/**
 * May we buy in production? No call of the interface says so. A read that is refused for it proves the opposite, and a
 * debit in the wallet proves it; where there is neither, only a purchase would tell.
 *
 * @param walletRefused the class of failure of the wallet read, where it failed.
 */
export async function checkApproval(
  client: Pick<ServiceClient, 'listWalletTransactions'>,
  { mode }: ServiceConfig,
  walletRefused: string | undefined,
): Promise<Finding> {
  if (mode === 'sandbox') return ok('not needed in the sandbox');
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
