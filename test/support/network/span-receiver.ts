import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';
import * as z from 'zod';
import { close, listen } from '#telemetry/http-server.ts';

const PROTO = join(import.meta.dirname, '../../vectors/opentelemetry-trace.proto');
const { root } = protobuf.parse(readFileSync(PROTO, 'utf8'), { keepCase: true });
const request = root.lookupType('ExportTraceServiceRequest');

const attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) }))
  .transform((pairs) => Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]])));
const id = z.instanceof(Buffer).transform((bytes) => bytes.toString('hex'));
const decodedSpan = z.object({
  trace_id: id,
  span_id: id,
  parent_span_id: id,
  name: z.string(),
  kind: z.string(),
  attributes,
  events: z.array(z.unknown()),
  links: z.array(z.object({ trace_id: id, span_id: id })),
  status: z.object({ message: z.string(), code: z.string() }).nullable(),
});
const exported = z.object({
  resource_spans: z.array(
    z.object({
      resource: z.object({ attributes }),
      scope_spans: z.array(z.object({ spans: z.array(decodedSpan) })),
    }),
  ),
});

/** A received span, with the name of the service that sent it. */
export type ReceivedSpan = z.output<typeof decodedSpan> & { readonly service: unknown };

/** A receiver of OTLP over HTTP, which decodes it by the published definition of the protocol. */
export class SpanReceiver implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  readonly bytes: Buffer[] = [];
  /** Headers of the newest request. */
  headers: Readonly<Record<string, unknown>> = {};
  #endpoint = '';
  readonly #server = createServer((incoming, response) => void this.#answer(incoming, response));

  static async start(): Promise<SpanReceiver> {
    const receiver = new SpanReceiver();
    receiver.#endpoint = `http://127.0.0.1:${await listen(receiver.#server, { host: '127.0.0.1', port: 0 })}`;
    return receiver;
  }

  /** The value of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  get endpoint(): string {
    return this.#endpoint;
  }

  trace(traceId: string): ReceivedSpan[] {
    return this.spans.filter(({ trace_id }) => trace_id === traceId);
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(incoming).catch(() => undefined);
    if (bytes === undefined) return;
    this.headers = incoming.headers;
    if (incoming.url === '/v1/traces') this.#take(bytes);
    response.writeHead(incoming.url === '/v1/traces' ? 200 : 404).end();
  }

  #take(bytes: Buffer): void {
    this.bytes.push(bytes);
    const form = { longs: String, enums: String, bytes: Buffer, defaults: true };
    const plain = request.toObject(request.decode(bytes), form);
    for (const { resource, scope_spans } of exported.parse(plain).resource_spans) {
      const service = resource.attributes['service.name'];
      for (const { spans } of scope_spans) this.spans.push(...spans.map((span) => ({ ...span, service })));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await close(this.#server, 'all');
  }
}
