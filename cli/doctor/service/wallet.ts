import { failure, type Finding, ok, warning } from '#cli/doctor/finding.ts';
import { withoutStop } from '#cli/doctor/service/login.ts';
import { compareMoney } from '#domain/money/money.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import type { ServiceWallet } from '#upstream/contract.ts';

/** Checks that the wallet can be read and contains money. */
export function checkWallet(result: ServiceResult<ServiceWallet>): Finding {
  if (!result.ok) return failure(withoutStop(result.detail), FAILURE_CLASSES[result.failure].advice);
  const { balance, currency } = result.value;
  const text = `${balance} ${currency}`;
  if (compareMoney({ amount: balance, currency }, { amount: '0', currency }) > 0) return ok(text);
  return warning(text, FAILURE_CLASSES.insufficient_balance.advice);
}
