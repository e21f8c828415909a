import { failure, notChecked, ok, warning, type Finding } from '#cli/doctor/finding.ts';
import type { Records } from '#cli/doctor/installation/records.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { describeRefusedPrefix } from '#domain/service/header-prefix.ts';

/** As usual: the worker's own policy is only a matter of when it raises its alert. */
export const WEBHOOK_SILENCE = DEFAULT_POLICY.webhookSilence;

/**
 * Do the service's webhooks arrive? Our own inbox says so: what they should have told was found by asking. They do not
 * where they come under another header prefix than ours; one that is signed with our secret proves that.
 *
 * @param records undefined where the database could not be asked.
 */
export function checkWebhookArrival(records: Pick<Records, 'webhooksMissed' | 'refusedPrefix'> | undefined): Finding {
  if (records === undefined) return notChecked('the inbox could not be read');
  const { webhooksMissed: missed, refusedPrefix } = records;
  if (refusedPrefix !== undefined) {
    const { fact, advice } = describeRefusedPrefix(refusedPrefix);
    return refusedPrefix.verified ? failure(fact, advice) : warning(fact, advice);
  }
  if (missed < WEBHOOK_SILENCE.news)
    return ok(missed === 0 ? 'none is missed' : `${missed} of the last hour may be missed, which is usual`);
  return warning(
    `${missed} or more pieces of news of the last hour were found by asking, and no webhook has come since`,
    'See the alert WebhooksSilent in docs/runbook.md: is our address right at the service, and do its deliveries ' +
      'get through?',
  );
}
