import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check } from '#test/support/contract-findings.ts';
import {
  contractBodies,
  contractOpenApi,
  neededFields,
  type BodyName,
  type Writing,
} from '#test/support/contract-openapi.ts';
import { assertForMany } from '#test/support/for-all.ts';
import type { ContractReport } from '#upstream/contract-check.ts';
import { ENDPOINTS } from '#upstream/contract.ts';

const writing: fc.Arbitrary<Writing> = fc.record({
  openapi: fc.constantFrom('3.0.3', '3.1.0'),
  parts: fc.constantFrom('inline', 'components'),
  base: fc.constantFrom('nowhere', 'server', 'relative server', 'paths', 'placeholder'),
  id: fc.constantFrom('id', 'esim', 'order_id', 'Id'),
  success: fc.constantFrom('200', '201', '2XX'),
  trailingSlash: fc.boolean(),
});
const fields = neededFields();

/** The breaking findings, by their call or event. */
function breaking(report: ContractReport): string[] {
  const calls = report.calls.map(({ name, findings }) => ({ of: name as string, findings }));
  const events = report.events.map(({ event, findings }) => ({ of: `event ${event}`, findings }));
  return [...calls, ...events].flatMap(({ of, findings }) =>
    findings.filter(({ severity }) => severity === 'breaking').map(({ part, name }) => `${of} ${part} ${name ?? ''}`),
  );
}

/** The name of a field in `breaking`. */
function named(body: BodyName, name: string): string {
  return body.startsWith('event ') ? `${body} answer ${name}` : `${body} ${name}`;
}

describe('a document of our own contract', () => {
  it('is compatible, without a finding for any call, in every notation', () => {
    // Each reads a whole document.
    assertForMany(40, writing, (written) => {
      const report = check(contractOpenApi(written));
      expect(report).toMatchObject({ compatible: true, switchOff: [] });
      expect(report.calls.flatMap(({ findings }) => findings)).toEqual([]);
      expect(report.events.map(({ status }) => status)).toEqual(report.events.map(() => 'matches'));
    });
  });

  it('is not compatible without any one needed field, and names it', () => {
    for (const { body, name, remove } of fields) {
      const bodies = contractBodies();
      remove(bodies);
      const report = check(contractOpenApi(undefined, bodies));
      expect(report.compatible, `${body} ${name}`).toBe(false);
      const others = breaking(report).filter((finding) => !named(body, name).startsWith(finding));
      expect(others, `${body} ${name}`).toEqual([]);
    }
    expect(fields.length).toBeGreaterThan(100);
  });
});

describe('an arbitrary document', () => {
  const described = ['#/components/schemas/A', '#/components/schemas/B'];
  const reference = fc.constantFrom(...described, '#/paths', '#', 'other.json', '#/%zz');
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.boolean(),
      fc.record({ $ref: reference }),
      fc.record(
        {
          type: fc.oneof(
            fc.constantFrom('string', 'object', 'array', 'null', 'odd'),
            fc.array(fc.constantFrom('string', 'null')),
          ),
          properties: fc.dictionary(fc.constantFrom('id', 'status', 'data', '__proto__'), tie('schema')),
          required: fc.array(fc.oneof(fc.constantFrom('id', 'status'), fc.integer())),
          items: tie('schema'),
          allOf: fc.array(tie('schema'), { maxLength: 2 }),
          oneOf: fc.array(tie('schema'), { maxLength: 3 }),
          enum: fc.array(fc.jsonValue(), { maxLength: 3 }),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    ),
  }));

  it('gets a report; the check neither throws nor loops for ever', () => {
    assertForMany(500, schema, schema, fc.jsonValue(), (a, b, other) => {
      const bodies = contractBodies();
      for (const name of bodies.keys()) bodies.set(name, { allOf: [a, { $ref: '#/components/schemas/B' }] });
      const document = contractOpenApi(undefined, bodies);
      Object.assign(document.components, { schemas: { A: a, B: b } });
      Object.assign(document.paths, {
        '/orders': other,
        '/login': { post: other, parameters: other },
        '/wallet': { get: { responses: other } },
      });
      const report = check(document);
      expect(report.calls).toHaveLength(Object.keys(ENDPOINTS).length);
      expect(report.events).toHaveLength(14);
    });
  });
});
