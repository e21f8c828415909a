import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseEnvironment, type Environment } from '#config/environment.ts';
import { tracingFields, tracingOf } from '#config/tracing.ts';

const read = (environment: Environment) => tracingOf(parseEnvironment(z.object(tracingFields), environment));

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('tracing', () => {
  it.each<[string, Environment]>([
    ['nothing is set', {}],
    ['only its details are set', { OTEL_SERVICE_NAME: 'shop', OTEL_TRACES_SAMPLER: 'always_on' }],
    ['the exporter is none', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
    ['the SDK is disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'True' }],
  ])('is off when %s', (_when, environment) => {
    expect(read(environment)).toBeUndefined();
  });

  it('has the sampler, the batches and the decoded headers of its variables', () => {
    const config = read({
      ...ENDPOINT,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.1',
      OTEL_BSP_SCHEDULE_DELAY: '200',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=a%2Cb%3D, x-tenant=one, authorization=Basic%20YWJjZA==',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-tenant=two',
    });
    expect(config).toMatchObject({ sampler: 'parentbased_traceidratio', ratio: 0.1, scheduleDelayMs: 200 });
    expect(config?.headers).toEqual({
      'x-api-key': 'a,b=',
      'x-tenant': 'two',
      authorization: 'Basic YWJjZA==',
    });
  });

  it.each<[Environment, string]>([
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER: must be otlp or none'],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL'],
    [{ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'sometimes' }, 'OTEL_TRACES_SAMPLER'],
    [{ ...ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG'],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'secret' }, 'OTEL_EXPORTER_OTLP_HEADERS: must be name=value pairs'],
  ])('refuses %o', (environment, problem) => {
    expect(() => read(environment)).toThrow(problem);
  });
});
