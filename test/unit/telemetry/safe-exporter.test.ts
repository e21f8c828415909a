import { SpanStatusCode } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';
import { describe, expect, it, vi } from 'vitest';
import { SafeExporter } from '#telemetry/tracing-sdk.ts';

const logger = () => ({ warn: vi.fn<() => void>(), info: vi.fn<() => void>() });

/** A tracer whose spans pass the exporter at once, and what arrives behind it. */
function traced(exporter: SpanExporter, log = logger()) {
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: new SafeExporter(exporter, log) })],
  });
  return { tracer: provider.getTracer('test'), provider, log };
}

describe('exported spans', () => {
  it('have no secret in their name, attributes, events, links and status', async () => {
    const received = new InMemorySpanExporter();
    const { tracer, provider } = traced(received);
    const secret = 'LPA:1$smdp.example$SECRET-CODE';
    const other = tracer.startSpan('other');
    const span = tracer.startSpan(`GET ${secret}`, {
      attributes: { activation_code: 'plain', url: `https://user:hunter22@host/${secret}`, count: 3 },
      links: [{ context: other.spanContext(), attributes: { imei: '490154203237518' } }],
    });
    span.addEvent(`saw ${secret}`, { detail: 'Bearer abcdefgh12345678' });
    span.setStatus({ code: SpanStatusCode.ERROR, message: `failed with whsec_0123456789abcdef` });
    span.end();
    await provider.forceFlush();

    const [exported] = received.getFinishedSpans();
    const text = JSON.stringify([
      exported?.name,
      exported?.attributes,
      exported?.events,
      exported?.links.map(({ attributes }) => attributes),
      exported?.status,
    ]);
    for (const part of ['SECRET-CODE', 'plain', 'hunter22', '490154203237518', 'abcdefgh', '0123456789abcdef'])
      expect(text).not.toContain(part);
    expect(exported?.attributes['count']).toBe(3);
    expect(exported?.spanContext()).toEqual(span.spanContext());
    expect(exported?.duration).toHaveLength(2);
  });

  it('that cannot be exported are logged once, and once more when the receiver answers again', () => {
    const results = [false, true, true, true, false, false, true].map((isFailure) => ({
      code: isFailure ? ExportResultCode.FAILED : ExportResultCode.SUCCESS,
      ...(isFailure && { error: new Error('connect ECONNREFUSED') }),
    }));
    const answers = [...results];
    const { tracer, log } = traced({
      export: (_spans, done) => done(answers.shift() ?? { code: ExportResultCode.SUCCESS }),
      shutdown: async () => undefined,
    });
    for (const _ of results) tracer.startSpan('call').end();
    expect(answers).toEqual([]);
    expect(log.warn).toHaveBeenCalledTimes(2);
    expect(log.info).toHaveBeenCalledTimes(1);
  });
});
