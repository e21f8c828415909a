import { failure, type Finding, notChecked, ok } from '#cli/doctor/finding.ts';
import { typed } from '#cli/terminal/output.ts';
import type { WebhookSecret } from '#config/config.ts';
import type { StoredWebhookSecrets } from '#db/service/webhook-secrets.ts';
import { counted } from '#domain/text.ts';

/**
 * Checks that there is a valid secret for the service's webhooks. It does not prove that the service uses the same
 * secret: only a delivery of the service does.
 *
 * @param stored undefined when the database cannot be read.
 * @param now epoch milliseconds.
 * @param data data folder of --data; advice repeats it in commands.
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
    const which = counted(stored.undecryptable, 'stored one does', 'stored ones do');
    return failure(
      `${which} not decrypt`,
      `Add the key that encrypted them to ENCRYPTION_KEYS, or run ${typed('service-secret rotate', data)}.`,
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
    ? failure('every secret of SERVICE_WEBHOOK_SECRETS has expired, and none is stored', advice)
    : failure('there is none, so every webhook of the service is refused', advice);
}

/**
 * The secret that the service probably signs with now. One that the service has shown us comes first.
 * @param now epoch milliseconds.
 */
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
