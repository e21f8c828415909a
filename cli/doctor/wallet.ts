import { FAILURE_CLASSES } from '#domain/failure.ts';
import { compareMoney } from '#domain/money.ts';
import type { ServiceWallet } from '#upstream/contract.ts';
import type { ServiceResult } from '#upstream/error-mapping.ts';
import { withoutStop } from '#cli/doctor/login.ts';
import { failure, type Finding, ok, warning } from '#cli/doctor/finding.ts';

/** Can the wallet be read, and is there money in it? */
export function checkWallet(result: ServiceResult<ServiceWallet>): Finding {
  if (!result.ok) return failure(withoutStop(result.detail), FAILURE_CLASSES[result.failure].advice);
  const { balance, currency } = result.value;
  const text = `${balance} ${currency}`;
  if (compareMoney({ amount: balance, currency }, { amount: '0', currency }) > 0) return ok(text);
  return warning(text, FAILURE_CLASSES.insufficient_balance.advice);
}
