import * as z from 'zod';
import { secret } from '#config/secret-files.ts';
import { urlOf } from '#config/variable-types.ts';

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

function headers() {
  return z
    .string()
    .transform((text) => text.split(',').map(nameAndValue))
    .refine((pairs) => pairs.every(([name, value]) => name && value), {
      message: 'must be name=value pairs, comma separated and percent-encoded',
    })
    .transform((pairs): Readonly<Record<string, string>> => {
      return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value]));
    });
}

/** A value may contain `=`, as Base64 does. */
function nameAndValue(pair: string): (string | undefined)[] {
  const at = pair.indexOf('=');
  return at === -1 ? [pair] : [pair.slice(0, at), pair.slice(at + 1)].map((part) => decoded(part.trim()));
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Protobuf over HTTP, which every collector accepts on port 4318. */
function protocol() {
  return z.enum(['http/protobuf'], { message: 'must be http/protobuf' }).default('http/protobuf');
}

function positive(fallback: number) {
  return z.coerce.number().int().min(1).default(fallback);
}

export const tracingFields = {
  OTEL_SDK_DISABLED: z
    .string()
    .default('false')
    .transform((text) => text.toLowerCase() === 'true'),
  /** `otlp` turns tracing on, `none` off. Absent: on if there is an endpoint. */
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], { message: 'must be otlp or none' }).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: urlOf('http:', 'https:').optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: urlOf('http:', 'https:').optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol(),
  OTEL_EXPORTER_OTLP_HEADERS: secret(headers().optional()),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: secret(headers().optional()),
  OTEL_SERVICE_NAME: z.string().min(1).optional(),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  /** Milliseconds between two exports. */
  OTEL_BSP_SCHEDULE_DELAY: positive(5_000),
  OTEL_BSP_MAX_QUEUE_SIZE: positive(2_048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: positive(512),
};

export type TracingConfig = NonNullable<ReturnType<typeof tracingOf>>;

/** Undefined: off. The SDK itself reads addresses, time limit, compression and certificates. */
export function tracingOf(raw: z.output<z.ZodObject<typeof tracingFields>>) {
  const address = raw.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? raw.OTEL_EXPORTER_OTLP_ENDPOINT;
  const exporter = raw.OTEL_TRACES_EXPORTER ?? (address === undefined ? 'none' : 'otlp');
  if (raw.OTEL_SDK_DISABLED || exporter === 'none') return undefined;
  return {
    sampler: raw.OTEL_TRACES_SAMPLER,
    ratio: raw.OTEL_TRACES_SAMPLER_ARG,
    /** The values are secrets. */
    headers: { ...raw.OTEL_EXPORTER_OTLP_HEADERS, ...raw.OTEL_EXPORTER_OTLP_TRACES_HEADERS },
    scheduleDelayMs: raw.OTEL_BSP_SCHEDULE_DELAY,
    maxQueueSize: raw.OTEL_BSP_MAX_QUEUE_SIZE,
    maxBatchSize: raw.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
  };
}
