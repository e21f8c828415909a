import { describe, expect, it } from 'vitest';
import { readDocument } from '#upstream/contract-check.ts';
import { matches } from '#upstream/contract-check/constraints.ts';

describe('a pattern of a document', () => {
  it.each([
    ['^[a-z]+$', 'abc', true],
    ['^[a-z]+$', 'ABC', false],
    [String.raw`^[\w-.]+$`, 'a-b', true],
    ['^(?<', 'abc', undefined],
    ['^(a+)+$', `${'a'.repeat(80)}!`, undefined],
  ] as const)('%s is matched, or ignored when it is invalid or endless', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });
});

describe('a document file is refused with a reason when it is', () => {
  it.each([
    ['nothing', '', 'is not JSON (of YAML, make JSON first)'],
    ['YAML', 'openapi: 3.1.0\npaths: {}\n', 'is not JSON (of YAML, make JSON first)'],
    ['cut off', '{"openapi":"3.1.0","paths":{', 'is not JSON (of YAML, make JSON first)'],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'is not UTF-8 text'],
    [
      'ambiguous',
      '{"openapi":"3.1.0","paths":{},"paths":{}}',
      'names a field twice in one object, so that it has no single meaning',
    ],
    ['a list', '[]', 'is JSON, but not an object'],
    ['Swagger', '{"swagger":"2.0","paths":{}}', 'is a Swagger 2 document; convert it to OpenAPI 3 first'],
    ['something else', '{"name":"reseller"}', 'has no field "openapi", so it is no OpenAPI document'],
    [
      'of another version',
      '{"openapi":"4.0.0","paths":{}}',
      'says that it is OpenAPI "4.0.0", and only version 3 is read',
    ],
    [
      'of a version that is no text',
      '{"openapi":3.1,"paths":{}}',
      'says that it is OpenAPI 3.1, and only version 3 is read',
    ],
    ['without paths', '{"openapi":"3.1.0"}', 'is an OpenAPI document without "paths"'],
    ['with a list of paths', '{"openapi":"3.1.0","paths":[]}', 'is an OpenAPI document without "paths"'],
  ])('%s', (_name, content, message) => {
    expect(() => readDocument(Buffer.from(content))).toThrow(message);
  });
});
