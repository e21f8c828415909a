import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { eventOutput, eventShapes } from '#api/events/event-data.ts';
import { readIdempotencyKey } from '#api/http/idempotency.ts';
import { TAGS } from '#api/http/tags.ts';
import { answerExampleOf, bodyExampleOf, exampleOf } from '#api/openapi/examples.ts';
import { problemCodes } from '#api/problems/problem-catalogue.ts';
import { eventsPage } from '#api/site/guides.ts';
import { webhookExample } from '#api/webhook-endpoints/event-webhooks.ts';
import { apiOperations } from '#cli/api/operations.ts';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import { eventTypes } from '#domain/events/event-types.ts';
import { envelopeBody, webhookHeaders } from '#outbound/event-message.ts';
import { apiDocument, readDescription } from '#scripts/api/api-document.ts';
import { documentFiles, staleFiles } from '#scripts/api/generate-api.ts';
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
    for (const [code, { value }] of Object.entries(components.examples))
      expect(problemsWith({ $ref: '#/components/schemas/Problem' }, value), code).toBe('');
  });

  it('uses the names `service_…_id` for ids of the service, and others for our ids', () => {
    const node = z.looseObject({ properties: z.record(z.string(), z.unknown()).default({}) });
    const ids = Object.entries(api.schemas).flatMap(([name, schema]) =>
      Object.entries(node.parse(schema).properties)
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

const headersOfCall = z.object({
  operationId: z.string(),
  responses: z.record(z.string(), z.object({ headers: z.record(z.string(), z.unknown()).default({}) })),
});
const HEADERS = z.object({ paths: z.record(z.string(), z.record(z.string(), headersOfCall)) });

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

const fits = (name: string, value: unknown) => problemsWith({ $ref: `#/components/schemas/${name}` }, value) === '';

const sent = z
  .looseObject({ id: z.string(), created_at: z.string(), data: z.record(z.string(), z.unknown()) })
  .parse(webhookExample(eventOutput));

const jsonContent = z.object({ schema: z.object({ $ref: z.string() }), example: z.unknown() });
const webhook = z
  .object({
    webhooks: z.object({
      event: z.object({
        post: z.object({
          parameters: z.array(z.object({ name: z.string(), in: z.literal('header'), required: z.literal(true) })),
          requestBody: z.object({ content: z.object({ 'application/json': jsonContent }) }),
        }),
      }),
    }),
  })
  .parse(document).webhooks.event.post;
const received = webhook.requestBody.content['application/json'];

describe('the description of events', () => {
  it('has every type, which selects the schema of its data', () => {
    const discriminator = z.object({ propertyName: z.literal('type'), mapping: z.record(z.string(), z.string()) });
    const described = z.object({ discriminator }).parse(api.schemas['Event']);
    expect(Object.keys(described.discriminator.mapping).toSorted()).toEqual([...eventTypes].toSorted());
    expect(fits('Event', sent)).toBe(true);
    expect(fits('Event', { ...sent, type: 'esim.expiring' })).toBe(false);
    // A later version may have more fields.
    expect(fits('Event', { ...sent, data: { ...sent.data, further: 1 }, further: 1 })).toBe(true);
  });

  it('has webhooks with the body and the headers of real deliveries', () => {
    const name = received.schema.$ref.split('/').at(-1) ?? '';
    const { timestamp: _timestamp, ...without } = sent;
    expect([sent, received.example, without].map((body) => fits(name, body))).toEqual([true, true, false]);
    const headers = Object.keys(
      webhookHeaders(sent, envelopeBody({ ...sent, type: 'order.completed' }), [generateWebhookSecret()], new Date(0)),
    );
    expect(webhook.parameters.map((parameter) => parameter.name)).toEqual(
      headers.filter((header) => header.startsWith('webhook-')),
    );
  });
});

describe('the page of events', () => {
  it('has exactly one row for each type', () => {
    const rows = [...eventsPage().matchAll(/^\| `([^`]+\.[^`]+)` \|/gm)].map(([, type]) => String(type));
    expect(rows.toSorted()).toEqual([...eventTypes].toSorted());
  });

  it('explains each field of data', () => {
    const rows = [...eventsPage().matchAll(/^\| `([a-z_]+)` \| ([^|]+) \| (.+) \|$/gm)];
    expect(rows.map(([, name]) => name)).toEqual(eventShapes.flatMap(({ shape }) => Object.keys(shape.data.shape)));
    for (const [row, , is = '', says = ''] of rows) {
      expect(is, row).toMatch(/^(string|number|integer|boolean|time|amount)( or `null`)?$/);
      expect(says.length, row).toBeGreaterThan(10);
    }
  });

  it('has an example of each shape that matches the description', () => {
    for (const shape of eventShapes) expect(shape.safeParse(exampleOf(shape, 'output')).error).toBeUndefined();
  });
});

const files = await documentFiles();

describe('the files generated from the API description', () => {
  it('are up to date; otherwise run `npm run generate:api`', () => {
    expect(staleFiles(files)).toEqual([]);
  });

  it('have every call in the .http collection, complete except for the variables', () => {
    const collection = files['docs/reference/api.http'] ?? '';
    const names = [...collection.matchAll(/^# @name (\w+)$/gm)].map(([, name]) => name);
    expect(names).toHaveLength(new Set(names).size);
    expect(names).toEqual(expect.arrayContaining(['createOrder', 'getEsimQrPng', 'listReconciliations']));
    const defined = new Set([...collection.matchAll(/^@(\w+) = /gm)].map(([, name]) => name));
    const used = [...collection.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name);
    expect(used.filter((name) => !defined.has(name))).toEqual([]);
    for (const [, body = ''] of collection.matchAll(/^(\{\n[^]*?^\})$/gm))
      expect(() => JSON.parse(body) as unknown).not.toThrow();
  });
});
