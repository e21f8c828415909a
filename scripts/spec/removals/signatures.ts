/** Removals for the statements about webhook signatures and versions. */
import type { Removal } from '#scripts/spec/removals/removal.ts';

export const SIGNATURES: readonly Removal[] = [
  {
    id: 'signature.signed-string',
    removed: 'The full stop between timestamp and body is left out.',
    file: 'crypto/webhook-signature.ts',
    find: "update(timestamp).update('.')",
    replace: 'update(timestamp)',
    failed: [
      { file: 'test/property/edges/signature.test.ts', title: 'accepts every signature within the tolerance' },
      { file: 'test/unit/crypto/webhook-signature.test.ts', title: 'accepts $signature' },
    ],
  },
  {
    id: 'signature.key-and-form',
    removed: 'Upper case is accepted as well.',
    file: 'crypto/webhook-signature.ts',
    find: '{64})$/;',
    replace: '{64})$/i;',
    failed: [{ file: 'test/unit/crypto/webhook-signature.test.ts', title: 'is refused as malformed' }],
  },
  {
    id: 'signature.constant-time',
    removed: 'The digests are compared with `equals`.',
    file: 'crypto/webhook-signature.ts',
    find: 'timingSafeEqual(expected, received)',
    replace: 'expected.equals(received)',
    failed: [
      { file: 'test/unit/crypto/constant-time.test.ts', title: 'is made in constant time' },
      { file: 'test/unit/crypto/constant-time.test.ts', title: 'uses no other function' },
    ],
  },
  {
    id: 'signature.digits-only',
    removed: 'A timestamp may have a sign.',
    file: 'crypto/webhook-signature.ts',
    find: '/^[0-9]{1,12}$/',
    replace: '/^[+-]?[0-9]{1,12}$/',
    failed: [{ file: 'test/unit/crypto/webhook-signature.test.ts', title: 'is refused as %j, also with a signature' }],
  },
  {
    id: 'signature.stale-401',
    removed: 'A stale timestamp is accepted.',
    file: 'crypto/webhook-signature.ts',
    find: "return 'timestamp_out_of_tolerance';",
    replace: 'void 0;',
    failed: [{ file: 'test/integration/events/service-webhooks/refused-deliveries.test.ts', title: 'time %s' }],
  },
  {
    id: 'signature.invalid-401',
    removed: 'Any well-formed signature is accepted.',
    file: 'crypto/webhook-signature.ts',
    find: 'matches ? { ok: true }',
    replace: 'accepted.length > 0 ? { ok: true }',
    failed: [
      { file: 'test/integration/events/service-webhooks/refused-deliveries.test.ts', title: 'another secret' },
      {
        file: 'test/integration/events/service-webhooks/refused-deliveries.test.ts',
        title: 'a byte of the body altered',
      },
    ],
  },
  {
    id: 'signature.duplicates',
    removed: 'The identifier is not stored.',
    file: 'fulfilment/reports/inbox-writer.ts',
    find: 'deliveryId: delivery.deliveryId,',
    replace: 'deliveryId: `${delivery.deliveryId}-${Math.random()}`,',
    failed: [
      {
        file: 'test/integration/events/service-webhooks/repeated-deliveries.test.ts',
        title: 'fifty times at once leaves one row',
      },
      {
        file: 'test/integration/events/service-webhooks/repeated-deliveries.test.ts',
        title: 'with a new signature is a duplicate',
      },
    ],
  },
  {
    id: 'signature.accepted-before-2xx',
    removed: 'The answer does not wait for the delivery to be stored.',
    file: 'api/service-webhooks/service-webhooks.ts',
    find: 'const stored = await intake.accept({',
    replace:
      "const stored: InboxResult = { kind: 'stored', conflict: 'none' };\n  const later = (delivery: " +
      'Parameters<typeof intake.accept>[0]) => intake.accept(delivery).catch(() => undefined);\n  void later({',
    failed: [
      {
        file: 'test/integration/events/service-webhooks/refused-deliveries.test.ts',
        title: 'gets 503 while the database is unavailable',
      },
    ],
  },
  {
    id: 'limit.webhook-tolerance',
    removed: '301 seconds instead of 300.',
    file: 'domain/service/webhook-tolerance.ts',
    find: '= 300;',
    replace: '= 301;',
    failed: [{ file: 'test/unit/crypto/webhook-signature.test.ts', title: 'is refused %i seconds off' }],
  },
  {
    id: 'versioning.path',
    removed: 'Any base address is accepted.',
    file: 'config/variables.ts',
    find: '.endsWith(BASE_PATH)',
    replace: ".includes('/')",
    failed: [
      { file: 'test/unit/config/service.test.ts', title: 'is refused with the required end of the address: %s' },
    ],
  },
  {
    id: 'versioning.signature-label',
    removed: 'Another label is accepted as well.',
    file: 'crypto/webhook-signature.ts',
    find: '/^v1=(',
    replace: '/^v[0-9]=(',
    failed: [{ file: 'test/unit/crypto/webhook-signature.test.ts', title: 'is refused as malformed' }],
  },
  {
    id: 'versioning.openapi',
    removed: 'The description has another path.',
    file: 'upstream/contract/service-endpoints.ts',
    find: "'/openapi.json'",
    replace: "'/openapi.yaml'",
    failed: [{ file: 'test/unit/upstream/client/client-service.test.ts', title: 'is downloaded unchanged, without' }],
  },
];
