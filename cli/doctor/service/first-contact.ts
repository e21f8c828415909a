import { failure, type Finding, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import type { Records } from '#cli/doctor/installation/records.ts';
import type { ServiceConfig } from '#config/config.ts';
import type { PauseRow } from '#db/gate/pauses.ts';
import { FIRST_CONTACT_ADVICE, nounOf } from '#domain/gate/first-contact.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';
import type { FirstContactState } from '#fulfilment/gate/first-contact.ts';

/**
 * Checks whether the shapes of the service's answers were seen. Purchases in production wait for it.
 *
 * @param records undefined when the database cannot be read.
 */
export function checkFirstContact(
  { mode }: Pick<ServiceConfig, 'mode'>,
  records: Pick<Records, 'firstContact'> | undefined,
): Finding {
  if (mode === 'sandbox') return ok('not needed in the sandbox');
  if (records === undefined) return notChecked('the records of it cannot be read');
  const states = [...records.firstContact];
  const detail = states.map(([kind, state]) => `${nounOf(kind)}: ${describeState(state)}`).join('; ');
  const of = (wanted: FirstContactState['kind']): PurchaseKind[] =>
    states.flatMap(([kind, state]) => (state.kind === wanted ? [kind] : []));
  if (of('held').length > 0) return failure(detail, FIRST_CONTACT_ADVICE);
  if (of('unknown').length > 0) return warning(detail, `The worker holds them at its start. ${FIRST_CONTACT_ADVICE}`);
  return ok(detail);
}

function describeState(state: FirstContactState): string {
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
  return `held by ${id} since ${pausedAt.toISOString()}: ${reason.replace(FIRST_CONTACT_ADVICE, '').trim()}`;
}
