/** Workflow histories as files: decoded, so that changes are readable, and without names of the machine. */
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto, { type temporal } from '@temporalio/proto';
import * as z from 'zod';

type History = temporal.api.history.v1.IHistory;
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const { History: HistoryMessage } = proto.temporal.api.history.v1;

/** Converts a stored history into JSON that can be replayed without keys. */
export async function decodedHistory(history: History, codec: PayloadCodec): Promise<Json> {
  await decodePayloads(history, codec);
  const plain: unknown = HistoryMessage.toObject(HistoryMessage.fromObject(history), {
    enums: String,
    longs: String,
    bytes: String,
  });
  return withoutMachine(plain as Json);
}

/** Reads the result of {@link decodedHistory}, for replay. */
export function readHistory(json: unknown): History {
  return HistoryMessage.fromObject(json as Record<string, unknown>);
}

/** Decodes all payloads of a history in place. */
async function decodePayloads(value: unknown, codec: PayloadCodec): Promise<void> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if (isPayload(value)) {
    const [decoded] = await codec.decode([value]);
    value.metadata = decoded?.metadata ?? null;
    value.data = decoded?.data ?? null;
    return;
  }
  for (const child of Object.values(value)) await decodePayloads(child, codec);
}

function isPayload(value: object): value is Payload {
  return 'metadata' in value && 'data' in value && value.data instanceof Uint8Array;
}

// Names of processes and hosts, and the paths in stack traces.
const OF_THE_MACHINE: ReadonlySet<string> = new Set(['identity', 'stackTrace']);

function withoutMachine(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withoutMachine(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name]) => !OF_THE_MACHINE.has(name))
    .map(([name, child]) => {
      if (name === 'encodedAttributes') return [name, withoutStackTrace(child)] as const;
      // A sticky queue is named after its worker.
      if (name === 'taskQueue' && isSticky(child)) return [name, { ...child, name: 'sticky' }] as const;
      return [name, withoutMachine(child)] as const;
    });
  return Object.fromEntries(entries);
}

function isSticky(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'TASK_QUEUE_KIND_STICKY';
}

/** The failure converter puts message and stack trace of a failure into one payload. */
function withoutStackTrace(payload: Json): Json {
  const { data } = payload as { data: string };
  const attributes = JSON.parse(Buffer.from(data, 'base64').toString('utf8')) as Record<string, unknown>;
  const kept = Buffer.from(JSON.stringify({ ...attributes, stack_trace: '' })).toString('base64');
  return { ...(payload as object), data: kept };
}

/** The names of all waits of a history, in order. A timer without a name gives an empty text. */
export function waitsIn({ events }: History): string[] {
  const timers = (events ?? []).filter(({ timerStartedEventAttributes: of }) => of != null);
  return timers.map(({ userMetadata }) => textIn(userMetadata?.summary));
}

/** The text in a payload of a decoded history; empty without a payload. */
export function textIn(payload: temporal.api.common.v1.IPayload | null | undefined): string {
  const json = Buffer.from(payload?.data ?? []).toString('utf8');
  return json === '' ? '' : z.string().parse(JSON.parse(json));
}

/** All texts of a history, with decoded payloads, for searches. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    name === 'data' && typeof child === 'string' ? [Buffer.from(child, 'base64').toString('utf8')] : textsOf(child),
  );
}
