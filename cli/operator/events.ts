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
  const receiver = options.forwardTo === undefined ? undefined : receiverAt(options.forwardTo, environment);
  if (receiver !== undefined) {
    printLine(notes, `Events are sent to ${options.forwardTo}. Secret of the signatures: ${receiver.secret}`);
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
        if (receiver !== undefined) await forward(event, receiver, context);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  });
}

function eventLine({ created_at: at, type, subject, id }: Event, paint: Paint): string {
  return `${paint('dim', timeText(at))}  ${paint('cyan', visible(type))}  ${visible(`${subject.id}  ${id}`)}`;
}

interface Receiver {
  readonly url: URL;
  readonly secret: string;
}

/** A failed delivery is not repeated. */
async function forward(event: Event, receiver: Receiver, context: ListenContext): Promise<void> {
  const { notes, environment, signal } = context;
  const body = envelopeBody(event);
  const headers = webhookHeaders(event, body, [receiver.secret], new Date());
  const started = performance.now();
  const { isDelivered, result } = await sendSigned(receiver.url, { body, headers }, signal);
  const durationMs = Math.round(performance.now() - started);
  const line = `  ${isDelivered ? 'delivered' : 'NOT delivered'}: ${result}, ${durationMs} ms  ${event.id}`;
  notes.write(`${paintFor(notes, environment)(isDelivered ? 'green' : 'red', visible(line))}\n`);
}

/** A program can keep its own secret in RESELLER_WEBHOOK_SECRET; otherwise it is new. */
function receiverAt(address: string, environment: Environment): Receiver {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new UserError(`${JSON.stringify(address)} is not an address.`, 'Use one such as http://127.0.0.1:5000/hook.');
  }
  const secret = environment['RESELLER_WEBHOOK_SECRET'] || generateWebhookSecret();
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
  return { url, secret };
}

/** Never throws because of the receiver. */
async function sendSigned(
  url: URL,
  { body, headers }: { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
) {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(OUTBOUND_POLICY.sendDeadlineMs)]);
  try {
    // A redirect counts as a failure, as it does for an endpoint.
    const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal: limit });
    await answer.body?.cancel();
    return { isDelivered: answer.ok, result: String(answer.status) };
  } catch (error) {
    return { isDelivered: false, result: reasonOf(error) };
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
      keyed: true,
    });
    queued += answer.queued;
    // A missing one would repeat the call without an end.
    if (answer.next_since == null) break;
    from = answer.next_since;
  }
  printLine(output, queued === 1 ? 'One delivery is queued.' : `${queued} deliveries are queued.`);
}
