import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { instant, instantJson, overlapSeconds } from '#api/fields/fields.ts';
import { answerOnce, findReplay } from '#api/http/idempotency.ts';
import { type CallerRequest, type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import { Problem, problemOf } from '#api/problems/problem.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import { type ReplacedWebhookSecret, WebhookSecretStore } from '#db/service/webhook-secrets.ts';
import { changeWebhookSecret, type SecretChange, type SecretRefusal } from '#upstream/webhook-secret.ts';

const PATH = '/v1/service/webhook-secret';

/** Usual duration of a change. */
const BUSY_RETRY_SECONDS = 5;

const secretOutput = z
  .strictObject({
    environment: z
      .enum(['sandbox', 'production'])
      .meta({ description: 'The environment of the service in which the secret signs.' }),
    stored_at: instant.meta({ description: 'Start of its validity.' }),
    former_verifies_until: instant.nullable().meta({
      description: 'End of the validity of the previous secret; null when none was stored.',
    }),
    configured_secrets: z
      .int()
      .min(0)
      .meta({
        description:
          'Number of secrets of `SERVICE_WEBHOOK_SECRETS` that this API process accepts too. A rotation does not end ' +
          'them: remove one that has leaked from the environment, and restart the API.',
      }),
  })
  .meta({ id: 'WebhookSecretStatus', description: 'When a secret was stored. The secret itself is never shown.' });

const rotation = z
  .strictObject({
    overlap_seconds: overlapSeconds(
      'How long former secrets remain valid; default: the configured overlap. With 0, after one has leaked, no ' +
        'former stored one is valid from now on; those of `SERVICE_WEBHOOK_SECRETS` are until they are removed.',
      3_600,
    ),
  })
  .meta({ id: 'WebhookSecretRotation' });

const PROBLEMS = [
  'webhook_secret_busy',
  'service_does_not_offer',
  'service_failed',
  'service_unavailable',
  'service_timeout',
] as const;
const STORED =
  'The service shows it once. It is stored encrypted at once and never shown. Every API ' +
  'process accepts it within seconds; secrets of the configuration remain valid too.';

export function serviceSecretOperations(dependencies: ApiDependencies): Operation[] {
  return [
    operation(`POST ${PATH}`, {
      id: 'createServiceWebhookSecret',
      summary: 'Make the service create its first webhook secret',
      description: STORED,
      scope: 'service:admin',
      idempotent: true,
      answers: { 201: jsonAnswer('Created and stored.', secretOutput) },
      problems: ['webhook_secret_exists', ...PROBLEMS],
      handle: (request) => change(dependencies, 'create', request),
    }),
    operation(`POST ${PATH}/rotate`, {
      id: 'rotateServiceWebhookSecret',
      summary: 'Make the service replace its webhook secret',
      description: STORED,
      scope: 'service:admin',
      idempotent: true,
      body: rotation,
      answers: { 200: jsonAnswer('Replaced and stored.', secretOutput) },
      problems: ['webhook_secret_missing', ...PROBLEMS],
      handle: (request) => change(dependencies, 'rotate', request, request.body.overlap_seconds),
    }),
  ];
}

async function change(
  dependencies: ApiDependencies,
  kind: SecretChange,
  request: CallerRequest,
  overlapSeconds?: number,
): Promise<Reply> {
  const { database, keyRing, service, serviceMode: environment, storedSecrets, now } = dependencies;
  const overlapMs = overlapSeconds === undefined ? dependencies.webhookSecretOverlapMs : overlapSeconds * 1_000;
  const entry = {
    actor: request.caller.apiKeyId,
    action: `webhook_secret.${kind}`,
    subject: { kind: 'webhook_secret', id: environment },
  } as const;
  const before = await findReplay(dependencies, request);
  if (before !== undefined) return before;
  // In its own transaction: the audit log keeps the attempt even when the change fails.
  await database.run((db) => addAuditEntry(db, entry, new Date(now())));
  // The lock of the transaction excludes other changes until this one is stored.
  const reply = await answerOnce(dependencies, request, async (tx) => {
    const store = new WebhookSecretStore(tx, { keyRing, environment, overlapMs, now });
    const result = await changeWebhookSecret(service, store, kind);
    if (!result.ok) throw refusal(result);
    return jsonReply(kind === 'create' ? 201 : 200, secretJson(dependencies, result.stored));
  });
  await storedSecrets.refresh();
  return reply;
}

function secretJson(
  { serviceMode: environment, webhookSecrets, now }: ApiDependencies,
  { storedAt, formerVerifiesUntil }: ReplacedWebhookSecret,
): z.input<typeof secretOutput> {
  return {
    environment,
    stored_at: storedAt.toISOString(),
    former_verifies_until: instantJson(formerVerifiesUntil ?? null),
    configured_secrets: webhookSecrets.filter(
      ({ acceptedUntil }) => acceptedUntil === undefined || acceptedUntil >= now(),
    ).length,
  };
}

function refusal(result: SecretRefusal): Problem {
  switch (result.reason) {
    case 'exists':
      return new Problem('webhook_secret_exists');
    case 'missing':
      return new Problem('webhook_secret_missing');
    case 'busy':
      return new Problem('webhook_secret_busy', { headers: { 'Retry-After': String(BUSY_RETRY_SECONDS) } });
    case 'unsupported':
      return new Problem('service_does_not_offer');
    case 'refused':
      return problemOf(result.failure);
    case 'unknown':
      return problemOf(
        result.failure,
        `${result.failure.detail} The service may have created a secret that we have not received. Rotate once it ` +
          'answers again.',
      );
  }
}
