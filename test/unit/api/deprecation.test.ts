import express from 'express';
import { describe, expect, it } from 'vitest';
import { deprecationHeaders, type Deprecation } from '#api/http/deprecation.ts';
import { type MountDependencies, mountOperations } from '#api/http/mount.ts';
import { publicOperation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { requestContext } from '#api/http/request-context.ts';
import { startServer } from '#api/http/server.ts';
import { describeOperation } from '#api/openapi/describe-operation.ts';
import { createLogger } from '#telemetry/logger.ts';
import { createMetrics } from '#telemetry/metrics.ts';

const deprecation: Deprecation = { since: '2030-01-31', removal: '2030-08-01', instead: '`GET /new`' };
const call = (id: string, path: `/${string}`, more: { deprecation?: Deprecation } = {}) =>
  publicOperation({
    id,
    method: 'get',
    path,
    tag: 'Orders',
    summary: 'A call',
    answers: { 200: { description: 'Yes.', contentType: 'application/json' } },
    handle: async () => jsonReply(200, {}),
    ...more,
  });

describe('a deprecated call', () => {
  it('says in every answer since when, and until when it stays', async () => {
    const app = express();
    app.use(requestContext(createLogger({ level: 'silent', name: 'test' }), createMetrics({ processMetrics: false })));
    // Calls without a key need nothing of these.
    mountOperations(app, [call('old', '/old', { deprecation }), call('new', '/new')], {} as MountDependencies);
    const server = await startServer(app, { host: '127.0.0.1', port: 0 });
    try {
      const headersOf = async (path: string) => {
        const { headers } = await fetch(`http://127.0.0.1:${server.port}${path}`);
        return [headers.get('deprecation'), headers.get('sunset'), headers.get('link')];
      };
      expect(await headersOf('/old')).toEqual([
        '@1896048000',
        'Thu, 01 Aug 2030 00:00:00 GMT',
        '</openapi.json>; rel="deprecation"; type="application/json"',
      ]);
      expect(await headersOf('/new')).toEqual([null, null, null]);
    } finally {
      await server.stop();
    }
  });

  it('is described as deprecated, with the call to use', () => {
    expect(describeOperation(call('old', '/old', { deprecation }))).toMatchObject({
      deprecated: true,
      description: 'Deprecated since 2030-01-31; it may be missing from 2030-08-01 on. Use `GET /new`.',
    });
    expect(describeOperation(call('new', '/new'))).not.toHaveProperty('deprecated');
  });

  it.each([
    ['2030-01-31', '2030-07-29'],
    ['2030-13-01', '2031-01-01'],
    ['soon', '2030-01-01'],
  ])('is refused at the start with the days %s and %s', (since, removal) => {
    expect(() => deprecationHeaders({ since, removal, instead: 'nothing' })).toThrow(RangeError);
  });
});
