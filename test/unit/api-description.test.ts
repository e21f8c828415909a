import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { problemCodes } from '#api/problem.ts';
import { recordedExchange, recordedExchanges } from '#api/recorded-examples.ts';
import { TAGS } from '#api/tags.ts';
import { apiDocument } from '#scripts/api-document.ts';
import { readDescription } from '#scripts/described-api.ts';

const document = await apiDocument();
const api = readDescription(document);

/** What cannot be brought about beside the simulator in a run of its own, and why. */
const WITHOUT_RECORDING: Readonly<Record<string, string>> = {
  abandonCancellation: 'is possible only while a cancellation is held, which passes within a moment',
  createServiceWebhookSecret: 'needs a service without a secret; the simulator has one from its start',
};

const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, date: true, uri: true, email: true } });
ajv.addSchema({ $id: 'api', ...(document as object) });
const problemsWith = (schema: unknown, value: unknown): string => {
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as object);
  return validate(value) ? '' : JSON.stringify([value, validate.errors]);
};

describe('the description of the API', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    const validator = new Validator();
    expect(await validator.validate(document as Record<string, unknown>)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('says of each group of calls what it is for, and of each call what it does', () => {
    expect(api.tags.filter(({ description }) => description === undefined).map(({ name }) => `add ${name} to api/tags.ts`)).toEqual([]);
    expect(api.tags.map(({ name }) => name)).toEqual(Object.keys(TAGS));
    const ids = api.operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, summary, tag } of api.operations) {
      expect(id).toMatch(/^[a-z][A-Za-z]+$/);
      expect(summary.length, id).toBeLessThanOrEqual(80);
      expect(Object.keys(TAGS)).toContain(tag);
    }
  });

  it('documents every problem with an example of its own', () => {
    const { components } = z.object({ components: z.object({ examples: z.record(z.string(), z.object({ value: z.unknown() })) }) }).parse(document);
    expect(Object.keys(components.examples)).toEqual(problemCodes);
    for (const [code, { value }] of Object.entries(components.examples)) {
      expect(problemsWith({ $ref: '#/components/schemas/Problem' }, value), code).toBe('');
    }
  });

  it('names each schema that a request or an answer consists of', () => {
    const nameless = api.operations
      .flatMap(({ id, body, answers }) => [{ id, schema: body?.schema }, ...answers.filter(({ status }) => status < 400).map(({ schema }) => ({ id, schema }))])
      .filter(({ schema }) => typeof schema === 'object' && schema !== null && 'properties' in schema)
      .map(({ id }) => id);
    expect(nameless).toEqual([]);
  });
});

describe('the recorded examples', () => {
  it('are there for every call that answers with JSON, else run `npm run record:examples`', () => {
    const wanted = api.operations
      .filter(({ id, answers }) => id !== 'getOpenApi' && answers.some(({ contentType, status }) => status < 300 && contentType === 'application/json'))
      .map(({ id }) => id)
      .filter((id) => recordedExchange(id)?.response.body === undefined);
    expect(wanted.toSorted()).toEqual(Object.keys(WITHOUT_RECORDING).toSorted());
  });

  it('fit the schemas of what they were recorded from, requests and answers', () => {
    const problems = recordedExchanges.flatMap(({ operation: id, request, response }) => {
      const operation = api.operations.find((each) => each.id === id);
      if (operation === undefined) return [`${id} is there no more: record again`];
      const answer = operation.answers.find(({ status }) => status === response.status);
      // Problems are described by reference, and checked above.
      if (answer === undefined) return response.status >= 400 ? [] : [`${id} answered ${response.status}`];
      return [
        response.body === undefined ? '' : problemsWith(answer.schema, response.body),
        operation.body === undefined || request.body === undefined || response.status >= 400 ? '' : problemsWith(operation.body.schema, request.body),
      ].filter((problem) => problem !== '');
    });
    expect(recordedExchanges.length).toBeGreaterThan(70);
    expect(problems).toEqual([]);
  });

  it('hold nothing of the run that made them: neither its ids nor its times', () => {
    const recorded = JSON.stringify(recordedExchanges);
    const ids = [...recorded.matchAll(/\b[a-z]{2,7}_([0-9A-HJKMNP-TV-Z]{26})\b/g)].map(([, id]) => id ?? '');
    expect(ids.length).toBeGreaterThan(100);
    expect(ids.filter((id) => !id.startsWith('01JQ8Z'))).toEqual([]);
    expect(recorded.match(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}/g)?.filter((id) => !id.startsWith('00000000-'))).toEqual([]);
    expect(recorded).not.toMatch(/"20(?!30|29|31)\d\d-\d\d-\d\d/);
  });
});
