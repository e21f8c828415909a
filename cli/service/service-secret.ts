import { actor } from '#cli/api/account.ts';
import { duration } from '#cli/doctor/duration.ts';
import { withDatabase } from '#cli/set-up/command-database.ts';
import type { Output } from '#cli/terminal/terminal.ts';
import { typed } from '#cli/terminal/typed-command.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { printLines } from '#cli/terminal/visible-text.ts';
import { readServiceSecretConfig, type ServiceSecretConfig } from '#config/config.ts';
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
import { changeWebhookSecret, type SecretChange, type SecretRefusal } from '#upstream/webhook-secret.ts';

export interface ServiceSecretOptions {
  /** How long former secrets still verify, in milliseconds; as the configuration says when left out. */
  readonly overlap?: number;
  /** The folder that the environment was read from: what is advised to type needs it as well. */
  readonly data?: string;
}

interface How {
  readonly overlapMs: number;
  readonly data: string | undefined;
}

/** One call; a change makes a few at most. */
const CALL_DEADLINE_MS = 10_000;

/**
 * `reseller service-secret create|rotate`: has the service make a webhook secret, and stores it encrypted. The secret
 * is shown to nobody.
 *
 * @throws UserError, ConfigurationError
 */
export async function changeServiceSecret(
  change: SecretChange,
  options: ServiceSecretOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  const config = readServiceSecretConfig(environment);
  const overlapMs = options.overlap ?? config.overlapMs;
  await withDatabase(config.database.url, 'reseller service-secret', async (database) => {
    const { baseUrl: serviceBaseUrl, mode: serviceMode } = config.service;
    await database.run((db) => stampOrVerify(db, { serviceBaseUrl, serviceMode }));
    await registerKeys(database, new KeyRing(config.encryptionKeys));
    const subject = { kind: 'webhook_secret', id: serviceMode } as const;
    await database.run((db) =>
      addAuditEntry(db, { actor: actor(), action: `webhook_secret.${change}`, subject }, new Date()),
    );
    const stored = await changeAndStore(change, config, { overlapMs, data: options.data }, database);
    printLines(output, storedLines(stored, config, { overlapMs, data: options.data }));
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
    // The token of a command of its own might end that of the processes that run.
    tokens: new ServiceTokenStore({ database, keyRing, environment, account }),
    now: Date.now,
  });
  let made = false;
  try {
    const result = await database.transaction(async (tx) => {
      const store = new WebhookSecretStore(tx, { keyRing, environment, overlapMs, now: Date.now });
      return await changeWebhookSecret(
        service.client,
        noting(store, () => (made = true)),
        change,
      );
    });
    if (!result.ok) throw refusal(result, data);
    return result.stored;
  } catch (error) {
    if (!made) throw error;
    throw new UserError(
      'The service has made a webhook secret that could not be stored, so nobody knows it. Deliveries signed ' +
        'with it are refused.',
      `Put the database right, then run ${typed('service-secret rotate', data)}. Until then the reconciler asks ` +
        'what became of silent orders.',
      { cause: error },
    );
  } finally {
    await service.close();
  }
}

/** The store, which says when it was given a secret: from then on a failure leaves one that nobody knows. */
function noting(store: WebhookSecretStore, onMade: () => void): Pick<WebhookSecretStore, 'lock' | 'replace'> {
  return {
    lock: () => store.lock(),
    replace: async (secret) => {
      onMade();
      return await store.replace(secret);
    },
  };
}

function storedLines(
  { storedAt, formerVerifiesUntil }: ReplacedWebhookSecret,
  { service, configuredSecrets }: ServiceSecretConfig,
  { overlapMs, data }: How,
): string[] {
  const lines = [
    `The service has made a new webhook secret (${service.mode}). It is stored encrypted and shown to nobody.`,
    `It verifies from ${storedAt.toISOString()}; API processes that run know it within seconds.`,
  ];
  if (formerVerifiesUntil !== undefined) {
    lines.push(
      overlapMs === 0
        ? 'Former stored ones verify nothing any more.'
        : `The former one verifies until ${formerVerifiesUntil.toISOString()} (${duration(overlapMs)}).`,
    );
  }
  if (configuredSecrets.length > 0) {
    lines.push(data !== undefined ? LEAVE_IN : overlapMs === 0 ? TAKE_OUT_NOW : TAKE_OUT);
  }
  return lines;
}

const TAKE_OUT =
  'SERVICE_WEBHOOK_SECRETS verify beside it for as long as they stand there: take them out, and restart the API, once ' +
  'deliveries signed with the new one arrive.';
const TAKE_OUT_NOW =
  'SERVICE_WEBHOOK_SECRETS in the environment are still accepted, whatever the overlap: if one of them has ' +
  'leaked, take it out ' +
  'and restart the API now.';
const LEAVE_IN =
  'What `npm start` gives the API as SERVICE_WEBHOOK_SECRETS verifies beside it. Unless you have set that ' +
  'variable yourself, ' +
  'there is nothing to do about it.';

function refusal(result: SecretRefusal, data: string | undefined): UserError {
  switch (result.reason) {
    case 'exists':
      return new UserError(
        'The service has a webhook secret already, and it shows it to nobody again.',
        `Run ${typed('service-secret rotate', data)}: it replaces that one by one that is stored here.`,
      );
    case 'missing':
      return new UserError(
        'The service has no webhook secret to rotate.',
        `Run ${typed('service-secret create', data)}.`,
      );
    case 'busy':
      return new UserError(
        'The webhook secret is being changed by another process.',
        'Run this again when that has ended, if you want one more.',
      );
    case 'unsupported':
      return new UserError(
        'SERVICE_WITHOUT says that the service makes no webhook secret by a call.',
        'Make it in the console of the service, and put it into SERVICE_WEBHOOK_SECRETS.',
      );
    case 'refused':
      return new UserError(
        `The service has made no webhook secret. ${result.failure.detail}`,
        FAILURE_CLASSES[result.failure.failure].advice,
      );
    case 'unknown':
      return new UserError(
        `The service may have made a webhook secret that nobody has seen. ${result.failure.detail}`,
        `Run ${typed('service-secret rotate', data)} once it answers again. Deliveries signed with that one are ` +
          'refused; the ' +
          'reconciler asks what became of silent orders.',
      );
  }
}
