import { randomUUID } from 'node:crypto';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { apiClient } from '#cli/api/api-client.ts';
import { apiCall, valuesOf } from '#cli/resources/call.ts';
import { type Output, printLine, visible } from '#cli/terminal/output.ts';
import { type Paint, timeText, paintFor } from '#cli/terminal/print-items.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { type StreamEventsQuery, EventStream } from '#clients/typescript/src/events.ts';
import type { Event, WebhookReplayResult } from '#clients/typescript/src/index.ts';
import type { Environment } from '#config/environment.ts';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import { OUTBOUND_POLICY } from '#domain/policy/webhook-policy.ts';
import { envelopeBody, webhookHeaders } from '#outbound/event-message.ts';

export interface ListenOptions extends ApiOptions {
  readonly forwardTo?: string;
  readonly json?: boolean;
}

export interface ListenContext {
  readonly environment: Environment;
  readonly output: Output;
  readonly notes: Output;
  readonly signal: AbortSignal;
}

/** After a lost connection it continues after the last event (`Last-Event-ID`). */
export async function listen(options: ListenOptions, context: ListenContext): Promise<void> {
  const { environment, output, notes, signal } = context;
  const forward = options.forwardTo === undefined ? undefined : forwarder(options.forwardTo, environment);
  if (forward !== undefined) {
    printLine(notes, `Events are sent to ${options.forwardTo}. Secret of the signatures: ${forward.secret}`);
  }
  printLine(notes, 'Waiting for events; Ctrl-C ends it.');
  const paint = paintFor(output, environment);
  // The API checks the values of the filter.
  const query: StreamEventsQuery = valuesOf((await apiCall('streamEvents')).query, { ...options });
  const onDisconnect = ({ message }: Error, nextInMs: number): void =>
    printLine(notes, `${message}; the next try is in ${Math.round(nextInMs / 1_000)} s.`);
  await apiClient(options, environment).ask(async (transport) => {
    try {
      for await (const event of new EventStream(transport, query, { signal, onDisconnect })) {
        output.write(`${options.json === true ? visible(JSON.stringify(event)) : eventLine(event, paint)}\n`);
        if (forward !== undefined) await report(forward, event, context);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  });
}

function eventLine({ created_at: at, type, subject, id }: Event, paint: Paint): string {
  return `${paint('dim', timeText(at))}  ${paint('cyan', visible(type))}  ${visible(`${subject.id}  ${id}`)}`;
}

/** A failed delivery is not repeated. */
async function report(forward: Forwarder, event: Event, { notes, environment, signal }: ListenContext): Promise<void> {
  const { result, isDelivered, durationMs } = await forward.send(event, signal);
  const paint = paintFor(notes, environment);
  const line = `  ${isDelivered ? 'delivered' : 'NOT delivered'}: ${result}, ${durationMs} ms  ${event.id}`;
  notes.write(`${paint(isDelivered ? 'green' : 'red', visible(line))}\n`);
}

type Forwarder = ReturnType<typeof forwarder>;

/** A program can keep its own secret in RESELLER_WEBHOOK_SECRET; otherwise it is new. */
function forwarder(address: string, environment: Environment) {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new UserError(`${JSON.stringify(address)} is not an address.`, 'Use one such as http://127.0.0.1:5000/hook.');
  }
  const secret = environment['RESELLER_WEBHOOK_SECRET'] || generateWebhookSecret();
  requireSecret(secret);
  return {
    secret,
    /** Never throws because of the receiver. */
    send: async (event: Event, signal: AbortSignal) => {
      const body = envelopeBody(event);
      return await sendSigned(url, { body, headers: webhookHeaders(event, body, [secret], new Date()) }, signal);
    },
  };
}

function requireSecret(secret: string): void {
  try {
    webhookHeaders({ id: '' }, Buffer.alloc(0), [secret], new Date());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UserError(
      'RESELLER_WEBHOOK_SECRET is not a webhook secret.',
      'Unset it, or set it to a secret that begins with whsec_.',
      { cause: error },
    );
  }
}

async function sendSigned(
  url: URL,
  { body, headers }: { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
) {
  const started = performance.now();
  const limit = AbortSignal.any([signal, AbortSignal.timeout(OUTBOUND_POLICY.sendDeadlineMs)]);
  const ended = (isDelivered: boolean, result: string) => ({
    isDelivered,
    result,
    durationMs: Math.round(performance.now() - started),
  });
  try {
    // A redirect counts as a failure, as it does for an endpoint.
    const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal: limit });
    await answer.body?.cancel();
    return ended(answer.ok, String(answer.status));
  } catch (error) {
    return ended(false, reasonOf(error));
  }
}

/** `fetch` wraps the reason. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

export interface ReplayOptions extends ApiOptions {
  readonly event?: string;
  readonly delivery?: string;
  readonly since?: string;
  readonly until?: string;
  readonly which?: string;
}

/** Repeats the call until everything is queued. */
export async function replayEvents(
  id: string,
  { event, delivery, since, until, which, ...options }: ReplayOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  if ([event, delivery, since].filter((each) => each !== undefined).length !== 1) {
    throw new UserError('Exactly one of --event, --delivery and --since is needed.', 'Give one of them.');
  }
  const api = apiClient(options, environment);
  let queued = 0;
  for (let from = since; ;) {
    const answer = await api.call<WebhookReplayResult>({
      path: `/v1/webhook-endpoints/${encodeURIComponent(id)}/replay`,
      body: { event_id: event, delivery_id: delivery, since: from, until, which },
      idempotencyKey: randomUUID(),
    });
    queued += answer.queued;
    // A missing one would repeat the call without an end.
    if (answer.next_since == null) break;
    from = answer.next_since;
  }
  printLine(output, queued === 1 ? 'One delivery is queued.' : `${queued} deliveries are queued.`);
}
