import { failure, type Finding, notChecked, ok } from '#cli/doctor/finding.ts';
import { typed } from '#cli/terminal/typed-command.ts';
import type { WebhookSecret } from '#config/config.ts';
import type { StoredWebhookSecrets } from '#db/service/webhook-secrets.ts';

/**
 * Is there a secret that verifies the service's webhooks? Whether it is the service's only a delivery of the service
 * can tell.
 *
 * @param stored undefined where the database could not be asked.
 * @param now epoch milliseconds.
 * @param data the folder that the doctor was given, for what it advises to type.
 */
export function checkWebhookSecret(
  configured: readonly WebhookSecret[],
  stored: StoredWebhookSecrets | undefined,
  now: number,
  data?: string,
): Finding {
  const inForce = configured.filter((secret) => isInForce(secret, now)).length;
  const ofConfiguration = inForce === 0 ? [] : [`${inForce} in SERVICE_WEBHOOK_SECRETS`];
  if (stored === undefined) {
    const [some] = ofConfiguration;
    return some === undefined
      ? notChecked('the stored ones could not be read')
      : ok(`${some}; stored ones could not be read`);
  }
  if (stored.undecryptable > 0) {
    const which = stored.undecryptable === 1 ? '1 stored one does' : `${stored.undecryptable} stored ones do`;
    return failure(
      `${which} not open`,
      `Put the key they were encrypted with back into ENCRYPTION_KEYS, or run ${typed('service-secret rotate', data)}.`,
    );
  }
  const ofStore = stored.secrets.map(({ storedAt, acceptedUntil }) =>
    acceptedUntil === undefined
      ? `one stored on ${storedAt.toISOString()}`
      : `a former one until ${new Date(acceptedUntil).toISOString()}`,
  );
  const all = [...ofStore, ...ofConfiguration];
  if (all.length > 0) return ok(all.join(', '));
  const advice =
    `Run ${typed('service-secret create', data)}, or put the secret that the service shows into ` +
    'SERVICE_WEBHOOK_SECRETS.';
  return configured.length > 0
    ? failure('every secret of SERVICE_WEBHOOK_SECRETS has ended, and none is stored', advice)
    : failure('there is none, so every webhook of the service is refused', advice);
}

/** The secret that the service signs with now, as far as we know: one that it showed us itself goes first. */
export function newestSecret(
  configured: readonly WebhookSecret[],
  stored: StoredWebhookSecrets | undefined,
  now: number,
): string | undefined {
  const candidates: readonly WebhookSecret[] = [...(stored?.secrets ?? []), ...configured];
  const current = candidates.find(({ acceptedUntil }) => acceptedUntil === undefined);
  return (current ?? candidates.find((secret) => isInForce(secret, now)))?.secret;
}

function isInForce({ acceptedUntil }: WebhookSecret, now: number): boolean {
  return acceptedUntil === undefined || acceptedUntil > now;
}
