import { failure, type Finding, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import type { Records } from '#cli/doctor/installation/records.ts';
import type { ServiceConfig } from '#config/config.ts';
import { FIRST_PURCHASE_CHECK_ADVICE, nounOf } from '#domain/gate/first-purchase-check.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';
import type { PauseRow, FirstPurchaseCheckState } from '#fulfilment/gate/pauses.ts';

/**
 * Checks whether the shapes of the service's answers were seen. Purchases in production wait for it.
 *
 * @param records undefined when the database cannot be read.
 */
export function checkFirstPurchaseCheck(
  { mode }: Pick<ServiceConfig, 'mode'>,
  records: Pick<Records, 'firstPurchaseCheck'> | undefined,
): Finding {
  if (mode === 'sandbox') return ok('not needed in the sandbox');
  if (records === undefined) return notChecked('the records of it cannot be read');
  const states = [...records.firstPurchaseCheck];
  const detail = states.map(([kind, state]) => `${nounOf(kind)}: ${describeState(state)}`).join('; ');
  const of = (wanted: FirstPurchaseCheckState['kind']): PurchaseKind[] =>
    states.flatMap(([kind, state]) => (state.kind === wanted ? [kind] : []));
  if (of('held').length > 0) return failure(detail, FIRST_PURCHASE_CHECK_ADVICE);
  if (of('unknown').length > 0)
    return warning(detail, `The worker holds them at its start. ${FIRST_PURCHASE_CHECK_ADVICE}`);
  return ok(detail);
}

function describeState(state: FirstPurchaseCheckState): string {
  switch (state.kind) {
    case 'held':
      return describeHold(state.pause);
    case 'recorded':
      return `seen. ${state.evidence}`;
    case 'released':
      return `released by ${state.by} at ${state.at.toISOString()}: ${state.reason}`;
    case 'unknown':
      return 'not seen yet';
  }
}

/** Removes the advice from the reason: the finding shows it once for all kinds. */
function describeHold({ id, pausedAt, reason }: PauseRow): string {
  return `held by ${id} since ${pausedAt.toISOString()}: ${reason.replace(FIRST_PURCHASE_CHECK_ADVICE, '').trim()}`;
}
