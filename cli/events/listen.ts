/** `reseller events listen`: events as they happen, also sent to the program of a developer. */
import { apiAccess, type ApiOptions } from '#cli/api/api-access.ts';
import { ApiClient } from '#cli/api/api-client.ts';
import { forwarder, type Forwarder } from '#cli/events/forward.ts';
import { apiCall } from '#cli/resources/call.ts';
import { valuesOf } from '#cli/resources/fields.ts';
import { type Output, printLine } from '#cli/terminal/output.ts';
import { timeText } from '#cli/terminal/tables/cells.ts';
import { type Paint, paintFor } from '#cli/terminal/tables/colours.ts';
import { visible } from '#cli/terminal/visible-text.ts';
import { EventStream, type StreamEventsQuery } from '#clients/typescript/src/events.ts';
import type { Event } from '#clients/typescript/src/index.ts';
import type { Environment } from '#config/environment.ts';

/** Options of the command; those of the filter come with them. */
export interface ListenOptions extends ApiOptions {
  readonly forwardTo?: string;
  readonly json?: boolean;
}

/** What the command works with. */
export interface ListenContext {
  readonly environment: Environment;
  readonly output: Output;
  /** For everything that is no event. */
  readonly notes: Output;
  /** Ends the command. */
  readonly signal: AbortSignal;
}

/** Prints events until the signal. After a lost connection it continues after the last event (`Last-Event-ID`). */
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
  await new ApiClient(apiAccess(options, environment)).ask(async (transport) => {
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

/** One line about the answer of the developer's program. A failed delivery is not repeated. */
async function report(forward: Forwarder, event: Event, { notes, environment, signal }: ListenContext): Promise<void> {
  const { result, isDelivered, durationMs } = await forward.send(event, signal);
  const paint = paintFor(notes, environment);
  const line = `  ${isDelivered ? 'delivered' : 'NOT delivered'}: ${result}, ${durationMs} ms  ${event.id}`;
  notes.write(`${paint(isDelivered ? 'green' : 'red', visible(line))}\n`);
}
