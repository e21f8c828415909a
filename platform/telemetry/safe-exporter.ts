import type { Attributes } from '@opentelemetry/api';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '#telemetry/logger.ts';
import { createRedactor, type Redactor } from '#telemetry/redaction.ts';

/**
 * Removes what looks like a secret or personal data from spans before they leave the process, by the rules of log
 * lines. Our spans contain none: this is for mistakes.
 *
 * A receiver that does not answer is logged once, and once more when it answers again.
 */
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

/** A copy of a span with redacted texts. */
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
