/** While no SDK is started (`tracing-sdk.ts`), these functions only run their work: there is no trace id. */
import {
  context,
  type Context,
  createContextKey,
  isSpanContextValid,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import type { TracingConfig } from '#config/tracing.ts';
import type { Logger } from '#telemetry/logger.ts';

/** No secret and no personal data: spans leave the installation. */
type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanOptions {
  readonly kind?: 'internal' | 'server' | 'client' | 'producer';
  /** `traceparent`; undefined or invalid: a new trace. Absent: the present span. */
  readonly parent?: string | null | undefined;
  /** `traceparent` of another span that caused it. */
  readonly link?: string | null | undefined;
  readonly attributes?: SpanAttributes;
}

interface BegunSpan {
  /** Undefined while nothing is traced. */
  readonly traceparent: string | undefined;
  /** Spans that begin in `work` belong to this one. */
  run<Result>(work: () => Result): Result;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** @param reason of a small set, such as failure classes; never a message. */
  fail(reason: string): void;
  end(): void;
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
} as const;

const INHERITED = createContextKey('attributes of the spans inside');

export function beginSpan(name: string, options: SpanOptions = {}): BegunSpan {
  const { kind = 'internal', link, attributes } = options;
  const parent = 'parent' in options ? contextOf(options.parent) : context.active();
  const span = trace.getTracer('reseller-fulfilment').startSpan(
    name,
    {
      kind: KINDS[kind],
      attributes: { ...(parent.getValue(INHERITED) as SpanAttributes | undefined), ...attributes },
      links: linksTo(link),
    },
    parent,
  );
  const inside = trace.setSpan(parent, span);
  return {
    traceparent: traceparentOf(span.spanContext()),
    run: (work) => context.with(inside, work),
    set: (more) => void span.setAttributes(more),
    rename: (better) => void span.updateName(better),
    fail: (reason) => void span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', reason),
    end: () => span.end(),
  };
}

/** An error marks the span with its name, never with its message. */
export async function inSpan<Result>(
  name: string,
  options: SpanOptions,
  work: (span: BegunSpan) => Promise<Result>,
): Promise<Result> {
  const span = beginSpan(name, options);
  try {
    return await span.run(() => work(span));
  } catch (error) {
    span.fail(typeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** For the spans that begin in `work`. */
export function withAttributes<Result>(attributes: SpanAttributes, work: () => Result): Result {
  return context.with(context.active().setValue(INHERITED, attributes), work);
}

/** Undefined while nothing is traced. */
export function currentTraceparent(): string | undefined {
  return traceparentOf(trace.getSpanContext(context.active()));
}

/** Empty while nothing is traced. */
export function traceHeaders(span: Pick<BegunSpan, 'traceparent'>): { readonly traceparent?: string } {
  return span.traceparent === undefined ? {} : { traceparent: span.traceparent };
}

export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return traceparent?.split('-', 2)[1];
}

/** The root for an invalid `traceparent`, and while nothing is traced. */
function contextOf(traceparent: string | null | undefined): Context {
  return traceparent ? propagation.extract(ROOT_CONTEXT, { traceparent }) : ROOT_CONTEXT;
}

function linksTo(traceparent: string | null | undefined): Link[] {
  const linked = trace.getSpanContext(contextOf(traceparent));
  return linked === undefined ? [] : [{ context: linked }];
}

function traceparentOf(span: SpanContext | undefined): string | undefined {
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const flags = span.traceFlags & TraceFlags.SAMPLED;
  return `00-${span.traceId}-${span.spanId}-0${flags}`;
}

/** A name in a program, which contains no data. */
const TYPE = /^[\w.]{1,64}$/;

/** A failure of an activity has its own type. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'type' in error && typeof error.type === 'string' && TYPE.test(error.type) ? error.type : error.name;
}

/**
 * Once in a process, before anything is traced. `stop` exports the waiting spans, and resolves within seconds, also
 * when the receiver does not answer. @param config undefined: tracing is off, and the SDK is not loaded.
 */
export async function startTracing(config: TracingConfig | undefined, process: string, logger: Logger) {
  if (config === undefined) return { stop: async () => undefined };
  const { startSdk } = await import('#telemetry/tracing-sdk.ts');
  return startSdk(config, process, logger);
}
