/** Removals for the statements about authentication and requests. */
import type { Removal } from '#scripts/spec/removals/removal.ts';

export const AUTHENTICATION: readonly Removal[] = [
  {
    id: 'header.authorization',
    removed: 'The token is sent without the word `Bearer`.',
    file: 'upstream/client/calls.ts',
    find: '`Bearer ${accessToken}`',
    replace: 'accessToken',
    failed: [
      { file: 'test/unit/upstream/client/client-requests.test.ts', title: '%s has a Bearer token when protected' },
      { file: 'test/unit/upstream/client/client-orders.test.ts', title: 'sends the stored bytes and' },
    ],
  },
  {
    id: 'auth.open-logins',
    removed: 'The login carries a token.',
    file: 'upstream/client/session.ts',
    find: "'login', { body",
    replace: "'login', { headers: { authorization: 'Bearer old' }, body",
    failed: [
      {
        file: 'test/unit/upstream/client/client-requests.test.ts',
        title: 'in %s (lifetime %s) sends the credentials to %s',
      },
    ],
  },
  {
    id: 'auth.everywhere-else',
    removed: 'The wallet is read without a token.',
    file: 'upstream/client/calls.ts',
    find: 'ENDPOINTS[endpoint].authorized || tokenNeeded.has(endpoint)) {',
    replace: "(ENDPOINTS[endpoint].authorized || tokenNeeded.has(endpoint)) && endpoint !== 'getWallet') {",
    failed: [
      { file: 'test/unit/upstream/client/client-requests.test.ts', title: '%s has a Bearer token when protected' },
    ],
  },
  {
    id: 'auth.updates',
    removed: 'The update check is made without a token.',
    file: 'upstream/client/calls.ts',
    find: 'ENDPOINTS[endpoint].authorized || tokenNeeded.has(endpoint)) {',
    replace: "(ENDPOINTS[endpoint].authorized || tokenNeeded.has(endpoint)) && endpoint !== 'getLatestUpdate') {",
    failed: [
      { file: 'test/unit/upstream/client/client-requests.test.ts', title: '%s has a Bearer token when protected' },
      { file: 'test/unit/upstream/client/client-service.test.ts', title: 'sends version, channel and usual token' },
    ],
  },
  {
    id: 'auth.separate',
    removed: 'A database of the sandbox is accepted for production.',
    file: 'db/connection/installation.ts',
    find: 'stamped.serviceMode !== configured.serviceMode',
    replace: 'stamped.serviceMode === undefined',
    failed: [
      {
        file: 'test/integration/db/installation.test.ts',
        title: 'refuses another address and mode, and keeps its own: $serviceBaseUrl, $serviceMode',
      },
    ],
  },
  {
    id: 'auth.lifetime',
    removed: 'The production login requests no lifetime.',
    file: 'upstream/client/session.ts',
    find: '{ expires_in_days: tokenDays }',
    replace: '{}',
    failed: [
      {
        file: 'test/unit/upstream/client/client-requests.test.ts',
        title: 'in %s (lifetime %s) sends the credentials to %s',
      },
      { file: 'test/unit/upstream/session-login.test.ts', title: 'in %s with a configured lifetime' },
    ],
  },
  {
    id: 'auth.secret-shown-once',
    removed: 'The secret of the answer is not stored.',
    file: 'upstream/webhook-secret.ts',
    find: 'store.replace(made.secret)',
    replace: "store.replace('')",
    failed: [{ file: 'test/unit/upstream/webhook-secret.test.ts', title: 'is stored by %s, and the' }],
  },
  {
    id: 'auth.secret-rotated',
    removed: 'A rotation creates a first secret instead.',
    file: 'upstream/webhook-secret.ts',
    find: "step === 'create' ? service",
    replace: 'step !== undefined ? service',
    failed: [{ file: 'test/unit/upstream/webhook-secret.test.ts', title: 'is stored by %s, and the' }],
  },
  {
    id: 'header.content-type',
    removed: 'Bodies are declared as text.',
    file: 'upstream/client/call.ts',
    find: "'content-type': 'application/json'",
    replace: "'content-type': 'text/plain'",
    failed: [{ file: 'test/unit/upstream/client/client-requests.test.ts', title: '%s has its exact body' }],
  },
  {
    id: 'header.idempotency-key',
    removed: 'The key is sent in another header.',
    file: 'upstream/contract/fields.ts',
    find: "'Idempotency-Key'",
    replace: "'Request-Id'",
    failed: [
      {
        file: 'test/unit/upstream/client/client-requests.test.ts',
        title: '%s has an Idempotency-Key only when the specification requires it',
      },
      { file: 'test/unit/upstream/client/client-esims.test.ts', title: 'has an Idempotency-Key, and no body' },
    ],
  },
  {
    id: 'header.idempotency-unique',
    removed: 'All attempts have one key.',
    file: 'fulfilment/attempts/open-attempt.ts',
    find: 'idempotencyKey: attempt.idempotencyKey',
    replace: "idempotencyKey: 'one for all'",
    failed: [{ file: 'test/integration/db/attempts.test.ts', title: 'has a unique key and reference' }],
  },
  {
    id: 'requests.json',
    removed: 'Bodies are form fields.',
    file: 'upstream/client/request-bytes.ts',
    find: "Buffer.from(JSON.stringify(fields), 'utf8')",
    replace: 'Buffer.from(new URLSearchParams(Object.entries(fields as object)).toString())',
    failed: [{ file: 'test/unit/upstream/client/client-requests.test.ts', title: '%s has its exact body' }],
  },
  {
    id: 'requests.shown',
    removed: 'A stated call has another path.',
    file: 'upstream/contract/vpn-endpoints.ts',
    find: "'/vpn/plans'",
    replace: "'/vpn/plan'",
    failed: [{ file: 'test/unit/upstream/client/client-requests.test.ts', title: 'the stated calls are those' }],
  },
];
