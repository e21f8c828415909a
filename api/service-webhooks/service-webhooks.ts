import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { isEncoded } from '#api/http/mount.ts';
import {
  type Incoming,
  type IncomingHeaders,
  jsonAnswer,
  type Operation,
  publicOperation,
} from '#api/http/operation.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import { databaseUnavailable } from '#api/problems/error-handler.ts';
import { Problem } from '#api/problems/problem.ts';
import { otherHeaderPrefix, RefusedPrefixes } from '#api/service-webhooks/refused-header-prefixes.ts';
import {
  refusalOfHeaders,
  type SignedDelivery,
  verifyWebhook,
  type WebhookRefusal,
  type WebhookVerdict,
} from '#crypto/webhook-signatures.ts';
import { OWN_PING } from '#db/queues/inbox.ts';
import type { InboxResult, ParsedWebhook, VerifiedWebhook } from '#fulfilment/reports/inbox-writer.ts';
import type { UnusedObserver } from '#telemetry/observers.ts';
import { currentTraceparent } from '#telemetry/tracing.ts';
import { serviceHeaders, type ServiceHeaders } from '#upstream/contract.ts';
import { parseEvent, QUARANTINE_REASONS } from '#upstream/mapping/events.ts';

const RESULTS = ['accepted', 'quarantined', 'duplicate', 'replayed'] as const;

/** Visible ASCII. Ids of rows of the reconciler begin with `read:`. */
const DELIVERY_ID = /^(?!read:)[\x21-\x7e]{1,255}$/;
const MAX_HEADER_EVENT = 255;

const receipt = z
  .strictObject({
    result: z.enum(RESULTS).meta({
      description: '`accepted`: stored. `duplicate`, `replayed`: known already. `quarantined`: stored for a person.',
    }),
  })
  .meta({ id: 'WebhookReceipt' });

function signedHeaders(names: ServiceHeaders) {
  return z.strictObject({
    [names.signature]: z.string().meta({
      description: '`v1=` and the HMAC-SHA256 of timestamp, full stop and raw body, in hexadecimal.',
    }),
    [names.timestamp]: z.string().meta({
      description: 'Time of the signature in Unix seconds; it may differ from our clock by at most 300 seconds.',
    }),
    [names.delivery]: z.string().meta({ description: 'Id of the delivery, the same for each of its retries.' }),
    [names.event]: z.string().optional().meta({
      description: 'Name of the event. It is not signed, so it has no effect; a difference from the body is recorded.',
    }),
  });
}

export function serviceWebhookOperations(dependencies: ApiDependencies): Operation[] {
  const names = serviceHeaders(dependencies.headerPrefix);
  const refusedPrefixes = new RefusedPrefixes(dependencies);
  // Prometheus sees an increase only from a value that it has read before, and one delivery must make an alert.
  for (const result of RESULTS) dependencies.metrics.webhookDeliveries.inc({ result }, 0);
  return [
    publicOperation('POST /webhooks/service', {
      id: 'receiveServiceWebhook',
      summary: 'Take a delivery of the service',
      description:
        `For the service, not for you. Verified on the raw body by \`${names.signature}\` and ` +
        `\`${names.timestamp}\`; answered with 200 once it is stored. A delivery that cannot be processed ` +
        'is stored too, and shown to an operator. `SERVICE_HEADER_PREFIX` sets the part of the header names ' +
        'before `-Event`.',
      reads: 'bytes',
      requestHeaders: signedHeaders(names),
      answers: { 200: jsonAnswer('Stored, now or before.', receipt) },
      problems: ['invalid_signature', 'delivery_id_missing', 'rate_limited', 'database_unavailable'],
      beforeBody: (headers) => refuseByHeaders(dependencies, headers),
      handle: async (incoming) => {
        await refuseOtherPrefix(dependencies, refusedPrefixes, incoming);
        return receive(dependencies, names, incoming);
      },
    }),
  ];
}

/** Refuses a delivery by its headers, before its body is read. @throws Problem invalid_signature */
function refuseByHeaders(
  { headerPrefix, webhookToleranceMs: toleranceMs, metrics, now }: ApiDependencies,
  { header, headerNames }: IncomingHeaders,
): void {
  // Whether one of our secrets signed the delivery belongs to the report; that check needs the body.
  if (otherHeaderPrefix(headerNames(), headerPrefix) !== undefined) return;
  const names = serviceHeaders(headerPrefix);
  const refusal = refusalOfHeaders({
    timestampHeader: header(names.timestamp),
    signatureHeader: header(names.signature),
    now: now(),
    toleranceMs,
  });
  // The reader of the body refuses an encoded one.
  if (refusal === undefined && isEncoded(header('Content-Encoding')))
    metrics.webhookDeliveries.inc({ result: 'body_encoded' });
  if (refusal === undefined) return;
  metrics.webhookDeliveries.inc({ result: refusal });
  throw new Problem('invalid_signature', { headers: { Connection: 'close' } });
}

/**
 * Also if the signature is valid: the operator decides which header names are accepted.
 * @throws Problem invalid_signature
 */
async function refuseOtherPrefix(
  { headerPrefix, webhookSecrets, storedSecrets, webhookToleranceMs: toleranceMs, metrics, now }: ApiDependencies,
  refusedPrefixes: RefusedPrefixes,
  { takeBytes, header, headerNames }: Incoming,
): Promise<void> {
  const prefix = otherHeaderPrefix(headerNames(), headerPrefix);
  if (prefix === undefined) return;
  const names = serviceHeaders(prefix);
  const { ok } = verifyWebhook({
    timestampHeader: header(names.timestamp),
    signatureHeader: header(names.signature),
    rawBody: takeBytes(),
    secrets: [...webhookSecrets, ...(storedSecrets.current() ?? [])],
    now: now(),
    toleranceMs,
  });
  metrics.webhookDeliveries.inc({ result: 'other_header_prefix' });
  // A ping of `reseller doctor` with another setting does not come from the service.
  if (!header(names.delivery)?.startsWith(OWN_PING)) await refusedPrefixes.add(prefix, ok);
  throw new Problem('invalid_signature');
}

async function receive(
  dependencies: ApiDependencies,
  names: ServiceHeaders,
  { takeBytes, header }: Incoming,
): Promise<Reply> {
  const { intake, webhookToleranceMs: toleranceMs, metrics, now } = dependencies;
  const bytes = takeBytes();
  const timestamp = header(names.timestamp);
  const verdict = await verify(dependencies, {
    timestampHeader: timestamp,
    signatureHeader: header(names.signature),
    rawBody: bytes,
    now: now(),
    toleranceMs,
  });
  if (!verdict.ok || timestamp === undefined) {
    metrics.webhookDeliveries.inc({ result: verdict.ok ? 'timestamp_missing' : verdict.reason });
    // The answer does not name the failed check: that would help a forger.
    throw new Problem('invalid_signature');
  }
  const deliveryId = header(names.delivery);
  if (deliveryId === undefined || !DELIVERY_ID.test(deliveryId)) {
    metrics.webhookDeliveries.inc({ result: 'delivery_id_missing' });
    throw new Problem('delivery_id_missing');
  }

  const headerEvent = header(names.event)?.slice(0, MAX_HEADER_EVENT);
  const parsed = readDelivery(bytes, dependencies.onUnused);
  const traceparent = currentTraceparent();
  const stored = await intake.accept({ deliveryId, timestamp, body: bytes, headerEvent, traceparent, parsed });
  const kept = parsed.state === 'quarantined' ? 'quarantined' : 'accepted';
  const result: (typeof RESULTS)[number] = stored.kind === 'stored' ? kept : stored.kind;
  metrics.webhookDeliveries.inc({ result });
  alertOn(dependencies, stored, { deliveryId, headerEvent, parsed });
  return jsonReply(200, { result });
}

/**
 * If no secret matches, another process may have stored a new one: the list is read again, at most once a second. While
 * the database is down the last list is used.
 * @throws Problem database_unavailable when the stored secrets were never read, so that no signature can be judged.
 */
async function verify(
  { webhookSecrets, storedSecrets }: ApiDependencies,
  delivery: Omit<SignedDelivery, 'secrets'>,
): Promise<WebhookVerdict> {
  const judge = () => verifyWebhook({ ...delivery, secrets: [...webhookSecrets, ...(storedSecrets.current() ?? [])] });
  const known = storedSecrets.current();
  const verdict = judge();
  if (verdict.ok || !MAY_HAVE_A_NEW_SECRET.has(verdict.reason)) return verdict;
  await storedSecrets.lookAgain();
  if (storedSecrets.current() === undefined) {
    throw databaseUnavailable(new Error('the stored webhook secrets were never read'));
  }
  return storedSecrets.current() === known ? verdict : judge();
}

/** Well-formed and fresh: only another secret would change the verdict. */
const MAY_HAVE_A_NEW_SECRET: ReadonlySet<WebhookRefusal> = new Set(['signature_mismatch', 'no_accepted_secret']);

function alertOn(
  { logger, metrics }: ApiDependencies,
  stored: InboxResult,
  { deliveryId, headerEvent, parsed }: Pick<VerifiedWebhook, 'deliveryId' | 'headerEvent' | 'parsed'>,
): void {
  const { state, note, event } = parsed;
  if (stored.kind === 'stored' && state === 'quarantined') {
    logger.warn(
      { deliveryId, note },
      'a webhook delivery was stored and is not processed; an operator should look at it',
    );
  }
  // The header is unsigned, so it is stored but not logged.
  if (stored.kind === 'stored' && headerEvent !== undefined && event !== undefined && headerEvent !== event) {
    metrics.webhookDeliveries.inc({ result: 'header_disagrees' });
    logger.warn(
      { deliveryId, event },
      'the event header of a webhook delivery disagrees with its signed body; the body decides',
    );
  }
  if (stored.kind === 'replayed') {
    logger.warn({ deliveryId }, 'signed content of an earlier delivery arrived under another id; it has no effect');
  }
  if (stored.conflict === 'new') {
    metrics.webhookDeliveries.inc({ result: 'conflict' });
    logger.error({ deliveryId }, 'two different signed bodies arrived under one delivery id; a case is open');
  }
}

/**
 * Every delivery is stored. Only a clear report about a purchase is passed to the relay; others wait for an operator.
 */
export function readDelivery(body: Buffer, onUnused?: UnusedObserver): ParsedWebhook {
  const event = parseEvent(body, (kind, fields) => onUnused?.(`event ${kind}`, { fields, items: 0 }));
  switch (event.kind) {
    case 'purchase': {
      const { kind, outcome, serviceId, reference, serviceEsimId } = event.purchase;
      return {
        event: event.event,
        state: 'pending',
        subjectKind: kind,
        outcome,
        ...(serviceId !== undefined && { serviceId }),
        ...(reference !== undefined && { reference }),
        ...(serviceEsimId !== undefined && { serviceEsimId }),
      };
    }
    case 'ping':
      return { state: 'ignored', event: event.event, note: 'A connectivity test.' };
    case 'quarantine':
      return {
        state: 'quarantined',
        note: QUARANTINE_REASONS[event.reason],
        ...(event.event !== undefined && { event: event.event }),
      };
  }
}
