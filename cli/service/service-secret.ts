import { actor, withDatabase } from '#cli/set-up/command-database.ts';
import { duration, printLines, typed } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { readParts } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Database } from '#db/connection/database.ts';
import { registerKeys } from '#db/connection/encryption-keys.ts';
import { stampOrVerify } from '#db/connection/installation.ts';
import { ServiceTokenStore } from '#db/service/service-tokens.ts';
import { type ReplacedWebhookSecret, WebhookSecretStore } from '#db/service/webhook-secrets.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { openService } from '#upstream/service.ts';
import { type SecretChange, type SecretRefusal, changeWebhookSecret } from '#upstream/webhook-secret.ts';

export interface ServiceSecretOptions {
  /** The default is the configured overlap. */
  readonly overlap?: number;
  readonly data?: string;
}

const PARTS_OF_A_CHANGE = ['database', 'encryptionKeys', 'service', 'webhookSecrets', 'policy'] as const;
type ServiceSecretConfig = ReturnType<typeof readParts<(typeof PARTS_OF_A_CHANGE)[number]>>;

interface How {
  readonly overlapMs: number;
  readonly data: string | undefined;
}

/** A change makes a few calls. */
const CALL_DEADLINE_MS = 10_000;

/** The service creates the secret; it is stored encrypted and never printed. */
export async function changeServiceSecret(
  change: SecretChange,
  options: ServiceSecretOptions,
  environment: Environment,
): Promise<void> {
  const config = readParts(PARTS_OF_A_CHANGE, environment);
  const overlapMs = options.overlap ?? config.policy.serviceWebhooks.secretOverlapMs;
  await withDatabase(config.database.directUrl, 'reseller service-secret', async (database) => {
    const { baseUrl: serviceBaseUrl, mode: serviceMode } = config.service;
    await database.run((db) => stampOrVerify(db, { serviceBaseUrl, serviceMode }));
    await registerKeys(database, new KeyRing(config.encryptionKeys));
    const subject = { kind: 'webhook_secret', id: serviceMode } as const;
    await database.run((db) =>
      addAuditEntry(db, { actor: actor(), action: `webhook_secret.${change}`, subject }, new Date()),
    );
    const stored = await changeAndStore(change, config, { overlapMs, data: options.data }, database);
    printLines(process.stdout, storedLines(stored, config, { overlapMs, data: options.data }));
  });
}

async function changeAndStore(
  change: SecretChange,
  config: ServiceSecretConfig,
  { overlapMs, data }: How,
  database: Database,
): Promise<ReplacedWebhookSecret> {
  const { mode: environment, email: account } = config.service;
  const keyRing = new KeyRing(config.encryptionKeys);
  const service = openService({
    ...config.service,
    deadlineMs: CALL_DEADLINE_MS,
    // A login of its own might end the shared token of the running processes.
    tokens: new ServiceTokenStore({ database, keyRing, environment, account }),
    now: Date.now,
  });
  let created = false;
  try {
    const result = await database.transaction(async (tx) => {
      const store = new WebhookSecretStore(tx, { keyRing, environment, overlapMs, now: Date.now });
      const observed = {
        lock: () => store.lock(),
        replace: async (secret: string) => {
          // A failure after this loses the secret.
          created = true;
          return await store.replace(secret);
        },
      };
      return await changeWebhookSecret(service.client, observed, change);
    });
    if (!result.ok) throw refusal(result, data);
    return result.stored;
  } catch (error) {
    if (!created) throw error;
    throw new UserError(
      'The service has created a webhook secret, but it could not be stored and is lost. Deliveries signed with it ' +
        'are refused.',
      `Fix the database, then run ${typed('service-secret rotate', data)}. Until then the reconciler looks up ` +
        'silent orders.',
      { cause: error },
    );
  } finally {
    await service.close();
  }
}

function storedLines(
  { storedAt, formerVerifiesUntil }: ReplacedWebhookSecret,
  { service, webhookSecrets }: ServiceSecretConfig,
  { overlapMs, data }: How,
): string[] {
  const lines = [
    `The service has created a new webhook secret (${service.mode}). It is stored encrypted and never shown.`,
    `It is valid from ${storedAt.toISOString()}. Running API processes use it within seconds.`,
  ];
  if (formerVerifiesUntil !== undefined) {
    lines.push(
      overlapMs === 0
        ? 'Former stored secrets are no longer valid.'
        : `The former secret is valid until ${formerVerifiesUntil.toISOString()} (${duration(overlapMs)}).`,
    );
  }
  if (webhookSecrets.length > 0) {
    lines.push(data !== undefined ? LEAVE_IN : overlapMs === 0 ? TAKE_OUT_NOW : TAKE_OUT);
  }
  return lines;
}

const TAKE_OUT =
  'The secrets in SERVICE_WEBHOOK_SECRETS remain valid too. Remove them and restart the API once deliveries signed ' +
  'with the new secret arrive.';
const TAKE_OUT_NOW =
  'The overlap does not apply to the secrets in SERVICE_WEBHOOK_SECRETS: they remain valid. If one of them has ' +
  'leaked, remove it and restart the API now.';
const LEAVE_IN =
  'The secret that `npm start` sets as SERVICE_WEBHOOK_SECRETS remains valid too. You need not change it unless you ' +
  'have set that variable yourself.';

function refusal(result: SecretRefusal, data: string | undefined): UserError {
  switch (result.reason) {
    case 'exists':
      return new UserError(
        'The service has a webhook secret already, and does not show it again.',
        `Run ${typed('service-secret rotate', data)}: it replaces that secret by a new one, which is stored here.`,
      );
    case 'missing':
      return new UserError(
        'The service has no webhook secret to rotate.',
        `Run ${typed('service-secret create', data)}.`,
      );
    case 'busy':
      return new UserError(
        'Another process is changing the webhook secret.',
        'Run this again after it has ended, if you want another change.',
      );
    case 'unsupported':
      return new UserError(
        'SERVICE_MISSING_CAPABILITIES switches the call off that creates a webhook secret.',
        'Create it in the console of the service, and add it to SERVICE_WEBHOOK_SECRETS.',
      );
    case 'refused':
      return new UserError(
        `The service has not created a webhook secret. ${result.failure.detail}`,
        FAILURE_CLASSES[result.failure.failure].advice,
      );
    case 'unknown':
      return new UserError(
        `The service may have created a webhook secret; we have not received it. ${result.failure.detail}`,
        `Run ${typed('service-secret rotate', data)} once it answers again. Deliveries signed with that secret are ` +
          'refused; the reconciler looks up silent orders.',
      );
  }
}
