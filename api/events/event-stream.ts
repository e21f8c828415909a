import { mayStill } from '#api/access/authentication.ts';
import { InFlight } from '#api/access/limits.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { CallerRequest } from '#api/http/operation.ts';
import type { StreamedReply, StreamWriter } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { Problem } from '#api/problems/problem.ts';
import { HeardEvents } from '#api/waits/waits.ts';
import { DatabaseUnavailableError } from '#db/connection/database.ts';
import type { PublishedEvent } from '#db/events/event-log.ts';
import { listEvents, meets, type EventFilter } from '#db/events/event-queries.ts';
import { eventEnvelope } from '#outbound/event-message.ts';

const PAGE = 100;
const RECONNECT_MS = 2_000;
/** X-Accel-Buffering switches the buffering of proxies off. */
const HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };

interface Reader extends Pick<CallerRequest, 'caller' | 'onClose'> {
  readonly after: bigint;
}

export class EventStreams {
  readonly #dependencies: ApiDependencies;
  readonly #open: InFlight;

  constructor(dependencies: ApiDependencies) {
    this.#dependencies = dependencies;
    this.#open = new InFlight((all) => dependencies.metrics.waiting.set({ for: 'stream' }, all));
  }

  /** @throws Problem too_many_streams */
  open(filter: EventFilter, reader: Reader): StreamedReply {
    const { perKey, stallMs } = this.#dependencies.streams;
    const leave = this.#open.enter(reader.caller.lineageId, { perSender: perKey });
    if (leave === undefined) {
      throw new Problem('too_many_streams', {
        detail: `The limit of an API key is ${perKey}.`,
        headers: { 'Retry-After': String(RECONNECT_MS / 1_000) },
      });
    }
    reader.onClose(leave);
    return { status: 200, headers: HEADERS, stallMs, send: (writer) => this.#send(writer, filter, reader) };
  }

  async #send(writer: StreamWriter, filter: EventFilter, reader: Reader): Promise<void> {
    const { database, tail, streams } = this.#dependencies;
    let position = reader.after;
    let keySeenAt = performance.now();
    const mayStay = async (trustedMs: number): Promise<boolean> => {
      if (performance.now() - keySeenAt < trustedMs) return true;
      if (!(await this.#mayStay(reader))) return false;
      keySeenAt = performance.now();
      return true;
    };
    // A reader whose connection breaks before the first event then misses nothing.
    if (!(await writer.send(`retry: ${RECONNECT_MS}\nid: ${CURSORS.event.write(position)}\n\n`))) return;
    /** @returns false when the stream is over. */
    const catchUp = async (): Promise<boolean> => {
      for (;;) {
        const after = position;
        const page = await database.run((db) => listEvents(db, filter, { after, limit: PAGE }));
        for (const event of page) {
          if (tail.stopped || !(await writer.send(asText(event)))) return false;
          position = event.position;
        }
        if (page.length < PAGE) return true;
        // A slow reader stays connected for long: check its key between pages.
        if (!(await mayStay(Math.min(KEY_TRUSTED_MS, streams.heartbeatMs)))) return false;
      }
    };
    // Catch up without listening, so that no events accumulate; then listen, and send those in between.
    if (!(await catchUp())) return;
    const buffer = new HeardEvents(tail, {
      ...(filter.subjectId !== undefined && { subjectId: filter.subjectId }),
      isRelevant: (event) => event.position > position && meets(filter, event),
      onClose: (listener) => writer.onClose(listener),
      limit: streams.maxBehind,
      // A reader that is too far behind.
      onOverflow: () => writer.cut(),
    });
    try {
      if (!(await catchUp())) return;
      while (!writer.closed && !tail.stopped && buffer.over === undefined) {
        // Relevant events up to this position are in `buffer`.
        const passed = tail.position;
        const events = buffer.take();
        if (events.length > 0 && !(await mayStay(KEY_TRUSTED_MS))) return;
        for (const event of events) {
          if (event.position <= position) continue;
          if (!(await writer.send(asText(event)))) return;
          position = event.position;
        }
        if (passed > position) position = passed;
        const ms = keySeenAt + streams.heartbeatMs - performance.now();
        if (ms > 0) await buffer.next(ms);
        else if (!(await mayStay(0)) || !(await writer.send(heartbeat(position)))) return;
      }
    } finally {
      buffer.end();
    }
  }

  /** True while the database is down, so that streams stay open. */
  async #mayStay({ caller }: Reader): Promise<boolean> {
    try {
      return await mayStill(this.#dependencies, caller, 'events:read');
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) return true;
      throw error;
    }
  }
}

/** Events in quick succession are sent without a check of the key for each. */
const KEY_TRUSTED_MS = 1_000;

/** Moves the reader's cursor on: with a filter that rarely matches it would expire. */
function heartbeat(position: bigint): string {
  return `: still here\nid: ${CURSORS.event.write(position)}\n\n`;
}

/** JSON has no line breaks, so it is one line of `data`. */
function asText(event: PublishedEvent): string {
  const data = JSON.stringify(eventEnvelope(event));
  return `id: ${CURSORS.event.write(event.position)}\nevent: ${event.type}\ndata: ${data}\n\n`;
}
