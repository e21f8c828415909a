import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { currentTraceparent, inSpan, traceHeaders, traceIdOf } from '#telemetry/tracing.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';
const PARENT = `00-${TRACE_ID}-${SPAN_ID}-01`;

describe('without an SDK', () => {
  it('work runs, nothing has a trace, and nothing is handed on', async () => {
    const seen = await inSpan('call', { parent: PARENT, attributes: { 'reseller.attempt': 1 } }, async (span) => ({
      current: currentTraceparent(),
      headers: traceHeaders(span),
    }));
    expect(seen).toEqual({ current: undefined, headers: {} });
    await expect(inSpan('call', {}, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  });
});

describe('with an SDK', () => {
  const exporter = new InMemorySpanExporter();
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  });
  // Test files share this process.
  afterAll(() => {
    trace.disable();
    propagation.disable();
    context.disable();
  });
  beforeEach(() => exporter.reset());

  const finished = () => exporter.getFinishedSpans();

  it('a span continues the trace of its parent, and a span inside belongs to it', async () => {
    const handedOn = await inSpan('outer', { parent: PARENT }, async (outer) => {
      await inSpan('inner', {}, async () => undefined);
      expect(currentTraceparent()).toBe(outer.traceparent);
      return traceHeaders(outer).traceparent;
    });
    const [inner, outer] = finished();
    expect(outer?.parentSpanContext?.spanId).toBe(SPAN_ID);
    expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
    expect(handedOn).toBe(`00-${TRACE_ID}-${outer?.spanContext().spanId}-01`);
    expect(traceIdOf(handedOn)).toBe(TRACE_ID);
    expect(currentTraceparent()).toBeUndefined();
  });

  it.each([undefined, null, '', 'garbage', `00-${'0'.repeat(32)}-${SPAN_ID}-01`, `ff-${TRACE_ID}-${SPAN_ID}-01`])(
    'a span without a usable parent begins a trace: %j',
    async (parent) => {
      await inSpan('outside', {}, () => inSpan('call', { parent }, async () => undefined));
      const [call] = finished();
      expect(call?.parentSpanContext).toBeUndefined();
      expect(call?.spanContext().traceId).not.toBe(TRACE_ID);
    },
  );

  it('an error marks the span with its type and never with its message', async () => {
    const error = Object.assign(new RangeError('the secret is LPA:1$x$y'), { code: 7 });
    await expect(inSpan('call', {}, () => Promise.reject(error))).rejects.toBe(error);
    const withType = Object.assign(new Error('hidden'), { type: 'not a type but a sentence' });
    await expect(inSpan('call', {}, () => Promise.reject(withType))).rejects.toBe(withType);
    expect(finished().map(({ attributes }) => attributes['error.type'])).toEqual(['RangeError', 'Error']);
    for (const { status, events } of finished())
      expect({ status, events }).toEqual({ status: { code: 2 }, events: [] });
  });
});
