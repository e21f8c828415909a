import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type Records, WEBHOOK_SILENCE } from '#cli/doctor/checks/database.ts';
import { type Finding, failure, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import { askOnce } from '#cli/service/own-session.ts';
import { typed } from '#cli/terminal/output.ts';
import type { ServiceConfig } from '#config/config.ts';
import { isLoopback } from '#config/variable-types.ts';
import { type AcceptedSecret, signWebhook } from '#crypto/webhook-signatures.ts';
import { OWN_PING } from '#db/queues/inbox.ts';
import type { StoredWebhookSecrets } from '#db/service/webhook-secrets.ts';
import { WEBHOOK_TOLERANCE_SECONDS, describeRefusedPrefix } from '#domain/service/service-address.ts';
import { counted, hostOf } from '#domain/text.ts';
import type { HttpAnswer } from '#upstream/client/http.ts';
import { readJson } from '#upstream/client/json.ts';
import { type ServiceHeaders, serviceHeaders } from '#upstream/contract.ts';

/** Only a delivery proves that the service uses the same secret. @param data folder of --data, for advice. */
export function checkWebhookSecret(
  configured: readonly AcceptedSecret[],
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

/** The service probably signs with this one now. One that it has shown us comes first. */
export function newestSecret(
  configured: readonly AcceptedSecret[],
  stored: StoredWebhookSecrets | undefined,
  now: number,
): string | undefined {
  const candidates: readonly AcceptedSecret[] = [...(stored?.secrets ?? []), ...configured];
  const current = candidates.find(({ acceptedUntil }) => acceptedUntil === undefined);
  return (current ?? candidates.find((secret) => isInForce(secret, now)))?.secret;
}

function isInForce({ acceptedUntil }: AcceptedSecret, now: number): boolean {
  return acceptedUntil === undefined || acceptedUntil > now;
}

export interface WebhookAddressOptions {
  readonly secret: string | undefined;
  readonly mode: ServiceConfig['mode'] | undefined;
  readonly now: () => number;
  readonly deadlineMs: number;
  /** Undefined: the default. */
  readonly webhookToleranceMs?: number | undefined;
}

/** Sends a signed `ping`, which has no effect but its row. It does not prove that the service has the same secret. */
export async function checkWebhookAddress(
  { url, headerPrefix }: { readonly url: string | undefined; readonly headerPrefix: string },
  { secret, mode, now, deadlineMs, webhookToleranceMs }: WebhookAddressOptions,
): Promise<Finding> {
  if (url === undefined) {
    return warning(
      'PUBLIC_WEBHOOK_URL is not set, so the address cannot be tested',
      'Set it to the address that the service sends to.',
    );
  }
  if (secret === undefined) return notChecked('no webhook secret can sign a ping');
  const address = new URL(url);
  const { origin, pathname, search, protocol } = address;
  const { headers, body } = signedPing(secret, now(), serviceHeaders(headerPrefix));
  const sent = await askOnce({ origin }, { method: 'POST', path: `${pathname}${search}`, headers, body, deadlineMs });
  if (sent.kind === 'no_answer') return failure(`no answer: ${sent.reason}`, REACH_US);
  const problem = problemOf(sent.answer, webhookToleranceMs);
  if (problem !== undefined) return problem;
  if (mode === 'production' && isLoopback(hostOf(address))) {
    return warning('leads to this machine only', 'Set PUBLIC_WEBHOOK_URL to the address that the service sends to.');
  }
  if (mode === 'production' && protocol === 'http:') {
    return warning('accepted our ping, unencrypted', 'Give the service an https address.');
  }
  return ok("accepted a ping signed with our own secret; this proves the address, not the service's secret");
}

function signedPing(
  secret: string,
  nowMs: number,
  names: ServiceHeaders,
): { headers: Record<string, string>; body: Buffer } {
  const delivery = `${OWN_PING}${randomUUID()}`;
  const timestamp = String(Math.floor(nowMs / 1_000));
  // Without the id two pings of the same second would look like replays.
  const ping = { event: 'ping', created_at: new Date(nowMs).toISOString(), data: { delivery } };
  const body = Buffer.from(JSON.stringify(ping), 'utf8');
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    [names.event]: 'ping',
    [names.delivery]: delivery,
    [names.timestamp]: timestamp,
    [names.signature]: signWebhook(secret, timestamp, body),
  };
  return { headers, body };
}

const receipt = z.object({ result: z.string() });

function problemOf(
  { status, headers, body }: HttpAnswer,
  toleranceMs = WEBHOOK_TOLERANCE_SECONDS * 1_000,
): Finding | undefined {
  if (status === 401) {
    return failure(
      `refused the signature of our ping (401)`,
      'Start the API with the same database, ENCRYPTION_KEYS, SERVICE_WEBHOOK_SECRETS and SERVICE_HEADER_PREFIX, and ' +
        `compare its clock with ours: at most ${toleranceMs / 1_000} s are tolerated.`,
    );
  }
  if (status >= 300 && status <= 399) {
    const advice = 'Use the address that it redirects to: a sender of webhooks need not follow redirects.';
    return failure(`redirects (${status}${headers['location'] === undefined ? '' : ', with a Location'})`, advice);
  }
  if (status >= 500)
    return failure(`answered ${status}`, 'Check /readyz of the API: the API must run and reach its database.');
  if (status < 200 || status > 299) return failure(`answered ${status}`, REACH_US);
  const json = readJson(body);
  const parsed = json.ok ? receipt.safeParse(json.value) : undefined;
  if (parsed?.success !== true) return failure(`a server other than our API answered (${status})`, REACH_US);
  if (parsed.data.result === 'accepted') return undefined;
  return warning('accepted our ping but did not understand it', 'Run the API and this command in the same version.');
}

const REACH_US =
  'PUBLIC_WEBHOOK_URL must lead to /webhooks/service of the API: check its DNS name, firewall and reverse proxy, ' +
  'and that the API runs.';

/** Look-ups and refused header prefixes show lost webhooks. A delivery that our secret verifies proves the prefix. */
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
    'See the alert WebhooksSilent in docs/runbook.md. Check our address at the service, whether its deliveries ' +
      'reach us, and whether they are refused for their signature: reseller_webhook_deliveries_total counts these.',
  );
}
