/** The SDK of OpenTelemetry. Loaded by `start-tracing.ts`, and only when tracing is on. */
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
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
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import type { TracingConfig } from '#config/tracing.ts';
import type { Logger } from '#telemetry/logger.ts';
import { SafeExporter } from '#telemetry/safe-exporter.ts';
import { settlesWithin } from '#telemetry/settles-within.ts';
import type { Tracing } from '#telemetry/start-tracing.ts';

/** A receiver that does not answer must not delay the end of a process for longer. */
const LAST_EXPORT_MS = 3_000;

/** Registers the SDK with the API of OpenTelemetry. Nothing is patched: `tracing.ts` makes all spans. */
export function startSdk(config: TracingConfig, process: string, logger: Logger): Tracing {
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
    stop: async () => {
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
