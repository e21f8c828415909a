import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readIdempotencyKey } from '#api/http/idempotency.ts';
import { TAGS } from '#api/http/tags.ts';
import { answerExampleOf, bodyExampleOf } from '#api/openapi/examples.ts';
import { problemCodes } from '#api/problems/problem-catalogue.ts';
import { apiOperations } from '#cli/api/operations.ts';
import { apiDocument, readDescription } from '#scripts/api/api-document.ts';
import { PACKAGES } from '#simulator/catalogue.ts';

const document = await apiDocument();
const api = readDescription(document);

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

  it('explains each group of calls and each call', () => {
    expect(api.tags.map(({ name }) => name)).toEqual(Object.keys(TAGS));
    const ids = api.operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, summary, tag } of api.operations) {
      expect(id).toMatch(/^[a-z][A-Za-z]+$/);
      expect(summary.length, id).toBeLessThanOrEqual(80);
      expect(Object.keys(TAGS)).toContain(tag);
    }
  });

  it('documents every problem with its own example', () => {
    const { components } = z
      .object({ components: z.object({ examples: z.record(z.string(), z.object({ value: z.unknown() })) }) })
      .parse(document);
    expect(Object.keys(components.examples)).toEqual(problemCodes);
    for (const [code, { value }] of Object.entries(components.examples)) {
      expect(problemsWith({ $ref: '#/components/schemas/Problem' }, value), code).toBe('');
    }
  });

  it('uses the names `service_…_id` for ids of the service, and others for our ids', () => {
    const ids = Object.entries(api.schemas).flatMap(([name, schema]) =>
      Object.entries(
        z.looseObject({ properties: z.record(z.string(), z.unknown()).default({}) }).parse(schema).properties,
      )
        .filter(([property]) => /^(order|esim|topup|refund|cancellation|(vpn_)?subscription)_id$/.test(property))
        .map(([property, field]) => ({
          property: `${name}.${property}`,
          isOurs: JSON.stringify(field).includes('"x-kind"'),
        })),
    );
    expect(ids.length).toBeGreaterThan(5);
    expect(ids.filter(({ isOurs }) => !isOurs)).toEqual([]);
  });
});

const HEADERS = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        responses: z.record(z.string(), z.object({ headers: z.record(z.string(), z.unknown()).default({}) })),
      }),
    ),
  ),
});

describe('the headers of the API', () => {
  const keys = api.operations.flatMap(({ id, parameters }) =>
    parameters.filter(({ name }) => name === 'Idempotency-Key').map((parameter) => ({ id, ...parameter })),
  );

  const accepted = ['k', 'a"b', 'a\\', '~', '"k"', '"two words"', '"a\\"b"', '"\\\\"'];
  const refused = ['', '"', '"abc', '""', '"a"b"', '"a\\"', '"a\\b"', 'two words', 'schlüssel', '"schlüssel"', 'a\tb'];
  const long = [255, 256].flatMap((length) => [
    'k'.repeat(length),
    `"${'k'.repeat(length)}"`,
    `"${'\\"'.repeat(length)}"`,
  ]);

  it.each([...accepted, ...refused, ...long])('describe %j as the API accepts it', (key) => {
    const taken = (() => {
      try {
        return readIdempotencyKey(key) !== '';
      } catch {
        return false;
      }
    })();
    expect(problemsWith(keys[0]?.schema, key) === '').toBe(taken);
  });

  it('mark each answer of a call with an Idempotency-Key as a possible repetition', () => {
    const required = new Set(keys.filter((key) => key.required).map(({ id }) => id));
    const answers = Object.values(HEADERS.parse(document).paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId: id, responses }) =>
        Object.entries(responses).map(([status, { headers }]) => ({
          id,
          isAnswer: Number(status) < 300,
          says: 'Idempotent-Replayed' in headers,
        })),
      );
    expect(answers.filter(({ says }) => says)).toEqual(
      answers.filter(({ id, isAnswer }) => isAnswer && required.has(id)),
    );
  });
});

describe('the examples of requests', () => {
  const bodyOf = (id: string) =>
    z.record(z.string(), z.unknown()).parse(api.operations.find((operation) => operation.id === id)?.body?.example);

  it('are usable by a new user: a public address, a sufficient limit, and a past time', () => {
    expect(bodyOf('createWebhookEndpoint')['url']).toMatch(/^https:\/\/[a-z.]+\.example\.com\//);
    for (const name of ['Order', 'Topup', 'VpnSubscription']) {
      const { amount } = z.object({ amount: z.string() }).parse(bodyOf(`change${name}Limit`)['max_price']);
      expect([name, Number(amount) > 1]).toEqual([name, true]);
    }
    expect(Date.parse(String(bodyOf('replayWebhooks')['since']))).toBeLessThan(Date.now());
    const [id] = api.operations.find((operation) => operation.id === 'getPackage')?.parameters ?? [];
    expect(PACKAGES.map((each) => String(each.id))).toContain(id?.schema.example);
  });
});

describe('the composed examples', () => {
  /** Fields that have no example although they need one. */
  const unsaid = (path: string, value: unknown): string[] => {
    if (value === '…') return [path];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, each]) => unsaid(`${path}.${name}`, each));
  };
  const problemsOf = (name: string, schema: z.ZodType, example: unknown) => {
    const { error } = schema.safeParse(JSON.parse(JSON.stringify(example)));
    return [...unsaid(name, example), ...(error === undefined ? [] : [`${name}: ${error.message}`])];
  };

  it('exist for every body and every JSON answer, and pass the checks of their schemas', async () => {
    const operations = await apiOperations();
    const problems = operations.flatMap(({ id, body, bodyExample, answers }) => [
      ...(body === undefined ? [] : problemsOf(`body of ${id}`, body, bodyExampleOf({ body, bodyExample }))),
      ...Object.entries(answers).flatMap(([status, answer]) =>
        answer.schema === undefined ? [] : problemsOf(`${status} of ${id}`, answer.schema, answerExampleOf(answer)),
      ),
    ]);
    expect(problems).toEqual([]);
  });

  it('match the schemas of the description, which refers only to its own parts', () => {
    const answers = api.operations.flatMap(({ id, answers: all }) =>
      all
        .filter((each) => each.status < 300 && each.contentType === 'application/json')
        .map((each) => ({ id, ...each })),
    );
    expect(answers.length).toBeGreaterThan(100);
    // Each file of the documentation has other content.
    expect(answers.filter(({ example }) => example === undefined).map(({ id }) => id)).toEqual(['getDocsFile']);
    const bodies = api.operations.flatMap(({ id, body }) => (body?.example === undefined ? [] : [{ id, ...body }]));
    for (const { id, schema, example } of [...answers.filter((each) => each.example !== undefined), ...bodies])
      expect(problemsWith(schema, example), id).toBe('');
  });
});
