import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { failure, type Finding, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import type { ServiceConfig, WebhookAddressConfig } from '#config/config.ts';
import { isLoopback } from '#config/fields.ts';
import { signWebhook } from '#crypto/webhook-signatures.ts';
import { OWN_PING } from '#db/queues/inbox.ts';
import { WEBHOOK_TOLERANCE_SECONDS } from '#domain/service/service-address.ts';
import { createHttpTransport, type HttpAnswer } from '#upstream/client/http.ts';
import { readJson } from '#upstream/client/json.ts';
import { serviceHeaders, type ServiceHeaders } from '#upstream/contract.ts';

export interface WebhookAddressOptions {
  /** Signs the ping; undefined when no secret is valid. */
  readonly secret: string | undefined;
  /** Undefined when the service part of the configuration cannot be used. */
  readonly mode: ServiceConfig['mode'] | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds. */
  readonly deadlineMs: number;
}

/**
 * Checks that our public webhook address leads to our API. Sends it a `ping` with a fresh delivery id, signed with our
 * own secret. The API stores the ping as every delivery, and it has no other effect. It does not prove that the service
 * has the same secret: only a delivery of the service does.
 */
export async function checkWebhookAddress(
  { url, headerPrefix }: Pick<WebhookAddressConfig, 'url' | 'headerPrefix'>,
  { secret, mode, now, deadlineMs }: WebhookAddressOptions,
): Promise<Finding> {
  if (url === undefined) {
    return warning(
      'PUBLIC_WEBHOOK_URL is not set, so the address cannot be tested',
      'Set it to the address that the service sends to.',
    );
  }
  if (secret === undefined) return notChecked('no webhook secret can sign a ping');
  const { origin, pathname, search, hostname, protocol } = new URL(url);
  const transport = createHttpTransport({ origin });
  try {
    const { headers, body } = signedPing(secret, now(), serviceHeaders(headerPrefix));
    const sent = await transport.send({ method: 'POST', path: `${pathname}${search}`, headers, body, deadlineMs });
    if (sent.kind === 'no_answer') return failure(`no answer: ${sent.reason}`, REACH_US);
    const problem = problemOf(sent.answer);
    if (problem !== undefined) return problem;
  } finally {
    await transport.close();
  }
  if (mode === 'production' && isLoopback(hostname)) {
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
  // The body repeats the id: without it two pings of the same second would look like replays of each other.
  const ping = { event: 'ping', created_at: new Date(nowMs).toISOString(), data: { delivery } };
  const body = Buffer.from(JSON.stringify(ping), 'utf8');
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'reseller-fulfilment',
    [names.event]: 'ping',
    [names.delivery]: delivery,
    [names.timestamp]: timestamp,
    [names.signature]: signWebhook(secret, timestamp, body),
  };
  return { headers, body };
}

const receipt = z.object({ result: z.string() });

/** @returns undefined when our API accepted the ping. */
function problemOf({ status, headers, body }: HttpAnswer): Finding | undefined {
  if (status === 401) {
    return failure(
      `refused the signature of our ping (401)`,
      'Start the API with the same database, ENCRYPTION_KEYS, SERVICE_WEBHOOK_SECRETS and SERVICE_HEADER_PREFIX, and ' +
        `compare its clock with ours: at most ${WEBHOOK_TOLERANCE_SECONDS} s are tolerated.`,
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
