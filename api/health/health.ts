import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { type Operation, publicOperation, jsonAnswer } from '#api/http/operation.ts';
import { bytesReply, jsonReply } from '#api/http/reply.ts';
import { checkReadiness } from '#telemetry/probes.ts';
import { createRedactor } from '#telemetry/redaction.ts';
import { joined } from '#telemetry/waiting.ts';

const readiness = z
  .strictObject({
    status: z.enum(['ready', 'not ready']).meta({ description: '`not ready`: `checks` shows what is missing.' }),
    checks: z.record(z.string(), z.strictObject({ ok: z.boolean(), detail: z.string().optional() })),
    degraded: z
      .array(z.strictObject({ condition: z.string().meta({ example: 'not_approved' }), detail: z.string() }))
      .meta({
        description:
          'Conditions that hold purchases although this API accepts requests: the last failure of held orders, such ' +
          'as `not_approved`; open circuits of the purchase gate, such as `service_down`; `purchases_paused`; ' +
          '`contract_drift` when a product or a kind is stopped because paid deliveries could not be used, and ' +
          '`first_delivery_awaited` when the first purchase of a kind must be delivered before the others; ' +
          '`other_header_prefix` when webhooks of the service are refused because of their header names; ' +
          '`webhooks_missed`; and `relay_behind_outbox`, `relay_behind_inbox` or `relay_behind_events` where rows ' +
          'wait for longer than they should. Never a reason to send requests elsewhere.',
      }),
  })
  .meta({
    id: 'Readiness',
    example: {
      checks: { database: { ok: true } },
      degraded: [
        {
          condition: 'not_approved',
          detail: 'The service answers 403 until it approves this reseller. 3 purchases are held for it.',
        },
      ],
    },
  });

/** Error messages of drivers may contain passwords in URLs. */
const redactor = createRedactor();

/** Need no key: a proxy in front of the API must not forward these paths. */
export function healthOperations({ readinessChecks, degraded, metrics }: ApiDependencies): Operation[] {
  const readReadiness = joined(() => checkReadiness(readinessChecks, degraded));
  const readMetrics = joined(() => metrics.render());
  return [
    publicOperation('GET /healthz', {
      id: 'getHealth',
      summary: 'Check that the process runs',
      description: 'For the supervisor of the process. It checks nothing else and needs no key.',
      answers: {
        200: jsonAnswer(
          'The process runs. /readyz checks its dependencies.',
          z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' }),
        ),
      },
      handle: async () => jsonReply(200, { status: 'ok' }),
    }),
    publicOperation('GET /readyz', {
      id: 'getReadiness',
      summary: 'Check that the process can serve requests',
      description: 'For load balancers: an instance that is not ready gets no requests. It needs no key.',
      answers: {
        200: jsonAnswer(
          'The database answers and has the schema of this version. `degraded` lists conditions that orders wait ' +
            'for.',
          readiness,
        ),
        503: jsonAnswer('It cannot; `checks` says why.', readiness),
      },
      handle: async () => {
        const readiness = await readReadiness();
        const { ready, checks } = readiness;
        return jsonReply(ready ? 200 : 503, {
          status: ready ? 'ready' : 'not ready',
          checks: redactor.value(checks),
          degraded: redactor.value(readiness.degraded),
        });
      },
    }),
    publicOperation('GET /metrics', {
      id: 'getMetrics',
      summary: 'Metrics in the Prometheus text format',
      description: 'For a scraper inside the network. It needs no key.',
      answers: { 200: { description: 'The metrics.', contentType: 'text/plain' } },
      handle: async () => {
        const { contentType, body } = await readMetrics();
        return bytesReply(200, contentType, body);
      },
    }),
  ];
}
