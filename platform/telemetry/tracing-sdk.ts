/** Loaded by `tracing.ts`, only when tracing is on. */
import { type Attributes, context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TracingConfig } from '#config/tracing.ts';
import type { Logger } from '#telemetry/logger.ts';
import { createRedactor, type Redactor } from '#telemetry/redaction.ts';
import { settlesWithin } from '#telemetry/waiting.ts';

/** A receiver that does not answer must not delay the end of a process for longer. */
const LAST_EXPORT_MS = 3_000;

/** Nothing is patched: `tracing.ts` makes all spans. */
export function startSdk(config: TracingConfig, process: string, logger: Logger) {
  const exporter = new SafeExporter(new OTLPTraceExporter({ headers: { ...config.headers } }), logger);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': `reseller-${process}` }).merge(
      detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
    ),
    sampler: samplerOf(config),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        scheduledDelayMillis: config.scheduleDelayMs,
        maxQueueSize: config.maxQueueSize,
        maxExportBatchSize: config.maxBatchSize,
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  logger.info({ sampler: config.sampler, ratio: config.ratio }, 'requests and work are traced');
  return {
    stop: async (): Promise<void> => {
      // The exporter reports its failures itself.
      const last = provider.shutdown().catch(() => undefined);
      await settlesWithin(LAST_EXPORT_MS, last);
    },
  };
}

function samplerOf({ sampler, ratio }: TracingConfig): Sampler {
  const ofRoot = (): Sampler => {
    if (sampler.endsWith('always_on')) return new AlwaysOnSampler();
    return sampler.endsWith('always_off') ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
  };
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root: ofRoot() }) : ofRoot();
}

/** Our spans contain no secrets: redaction is for mistakes. A silent receiver is logged once. */
export class SafeExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #logger: Pick<Logger, 'warn' | 'info'>;
  readonly #redactor = createRedactor();
  #isFailing = false;

  constructor(exporter: SpanExporter, logger: Pick<Logger, 'warn' | 'info'>) {
    this.#exporter = exporter;
    this.#logger = logger;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    const safe = spans.map((span) => redactSpan(span, this.#redactor));
    this.#exporter.export(safe, (result) => {
      this.#report(result);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  #report({ code, error }: ExportResult): void {
    const isFailing = code !== ExportResultCode.SUCCESS;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    if (isFailing)
      this.#logger.warn({ err: error }, 'spans cannot be exported; they are lost until the receiver answers');
    else this.#logger.info({}, 'spans are exported again');
  }
}

function redactSpan(span: ReadableSpan, redactor: Redactor): ReadableSpan {
  const safe = (attributes: Attributes | undefined) => redactor.value(attributes ?? {}) as Attributes;
  const { status, events, links, parentSpanContext } = span;
  return {
    name: redactor.text(span.name),
    attributes: safe(span.attributes),
    status: status.message === undefined ? status : { ...status, message: redactor.text(status.message) },
    events: events.map((event) => ({ ...event, name: redactor.text(event.name), attributes: safe(event.attributes) })),
    links: links.map((link) => ({ ...link, attributes: safe(link.attributes) })),
    spanContext: () => span.spanContext(),
    ...(parentSpanContext !== undefined && { parentSpanContext }),
    kind: span.kind,
    startTime: span.startTime,
    endTime: span.endTime,
    duration: span.duration,
    ended: span.ended,
    resource: span.resource,
    instrumentationScope: span.instrumentationScope,
    droppedAttributesCount: span.droppedAttributesCount,
    droppedEventsCount: span.droppedEventsCount,
    droppedLinksCount: span.droppedLinksCount,
  };
}
