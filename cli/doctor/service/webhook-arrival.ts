import { failure, notChecked, ok, warning, type Finding } from '#cli/doctor/finding.ts';
import { WEBHOOK_SILENCE, type Records } from '#cli/doctor/installation/records.ts';
import { describeRefusedPrefix } from '#domain/service/service-address.ts';

/**
 * Checks that the service's webhooks arrive. They do not if look-ups found what webhooks should have reported, or if
 * deliveries were refused because of another header prefix. A delivery that our secret verifies proves the prefix.
 *
 * @param records undefined when the database cannot be read.
 */
export function checkWebhookArrival(records: Pick<Records, 'webhooksMissed' | 'refusedPrefix'> | undefined): Finding {
  if (records === undefined) return notChecked('the inbox could not be read');
  const { webhooksMissed: missed, refusedPrefix } = records;
  if (refusedPrefix !== undefined) {
    const { fact, advice } = describeRefusedPrefix(refusedPrefix);
    return refusedPrefix.verified ? failure(fact, advice) : warning(fact, advice);
  }
  if (missed < WEBHOOK_SILENCE.reports)
    return ok(missed === 0 ? 'none is missing' : `${missed} of the last hour may be missing, which is usual`);
  return warning(
    `look-ups found ${missed} or more reports of the last hour, and no webhook has arrived since`,
    'See the alert WebhooksSilent in docs/runbook.md. Check our address at the service, and whether its deliveries ' +
      'reach us.',
  );
}
