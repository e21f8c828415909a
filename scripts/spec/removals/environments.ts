/** Removals for the statements about the environments and the logins. */
import type { Removal } from '#scripts/spec/removals/removal.ts';

export const ENVIRONMENTS: readonly Removal[] = [
  {
    id: 'environments.production-address',
    removed: 'Production is called under another address.',
    file: 'domain/service/service-address.ts',
    find: ': baseUrl;',
    replace: ': `${baseUrl}/production`;',
    failed: [
      { file: 'test/unit/config/service.test.ts', title: 'selects the address' },
      { file: 'test/unit/upstream/client/client-requests.test.ts', title: 'and all calls of %s use its address: %s' },
    ],
  },
  {
    id: 'environments.sandbox-address',
    removed: 'The sandbox is called under another address.',
    file: 'domain/service/service-address.ts',
    find: "'/sandbox'",
    replace: "'/test'",
    failed: [
      { file: 'test/unit/config/service.test.ts', title: 'selects the address' },
      { file: 'test/unit/upstream/client/client-requests.test.ts', title: 'and all calls of %s use its address: %s' },
    ],
  },
  {
    id: 'environments.safe-start',
    removed: 'Production is the default.',
    file: 'config/variables.ts',
    find: "default('sandbox')",
    replace: "default('production')",
    failed: [{ file: 'test/unit/config/service.test.ts', title: 'is the sandbox by default' }],
  },
  {
    id: 'environments.approval',
    removed: 'A refusal because of missing approval counts as an invalid request.',
    file: 'upstream/client/error-mapping.ts',
    find: "code : 'not_approved'",
    replace: "code : 'invalid_request'",
    failed: [
      { file: 'test/unit/upstream/error-mapping-classes.test.ts', title: '%i with the code "%s" is' },
      { file: 'test/unit/cli/doctor/doctor-service-access.test.ts', title: 'is missing when a read is' },
    ],
  },
  {
    id: 'login.production',
    removed: 'The production login goes to the sandbox.',
    file: 'domain/service/service-address.ts',
    find: "mode === 'sandbox' ?",
    replace: 'mode !== undefined ?',
    failed: [
      {
        file: 'test/unit/upstream/client/client-requests.test.ts',
        title: 'in %s (lifetime %s) sends the credentials to %s',
      },
    ],
  },
  {
    id: 'login.sandbox',
    removed: 'The sandbox login goes to production.',
    file: 'domain/service/service-address.ts',
    find: "mode === 'sandbox' ?",
    replace: 'mode === undefined ?',
    failed: [
      {
        file: 'test/unit/upstream/client/client-requests.test.ts',
        title: 'in %s (lifetime %s) sends the credentials to %s',
      },
    ],
  },
  {
    id: 'field.login.email',
    removed: 'The login has no e-mail address.',
    file: 'upstream/client/session.ts',
    find: 'email: credentials.email,',
    replace: '',
    failed: [
      {
        file: 'test/unit/upstream/client/client-requests.test.ts',
        title: 'in %s (lifetime %s) sends the credentials to %s',
      },
    ],
  },
  {
    id: 'field.login.password',
    removed: 'The login has no password.',
    file: 'upstream/client/session.ts',
    find: 'password: credentials.password,',
    replace: '',
    failed: [
      {
        file: 'test/unit/upstream/client/client-requests.test.ts',
        title: 'in %s (lifetime %s) sends the credentials to %s',
      },
    ],
  },
  {
    id: 'field.login.device_name',
    removed: 'The login does not name the client.',
    file: 'upstream/client/session.ts',
    find: 'device_name: credentials.deviceName,',
    replace: '',
    failed: [
      {
        file: 'test/unit/upstream/client/client-requests.test.ts',
        title: 'in %s (lifetime %s) sends the credentials to %s',
      },
    ],
  },
  {
    id: 'field.login.expires_in_days',
    removed: 'The sandbox login sends it, too.',
    file: 'upstream/client/session.ts',
    find: "mode === 'production' && tokenDays",
    replace: 'tokenDays',
    failed: [
      {
        file: 'test/unit/upstream/client/client-requests.test.ts',
        title: 'in %s (lifetime %s) sends the credentials to %s',
      },
      { file: 'test/unit/upstream/session-login.test.ts', title: 'in %s with a configured lifetime' },
    ],
  },
  {
    id: 'environments.production-wallet',
    removed: 'All purchases are paid from the wallet of the sandbox.',
    file: 'simulator/wallet.ts',
    find: "this.#append(environment, 'debit', amount",
    replace: "this.#append('sandbox', 'debit', amount",
    failed: [{ file: 'test/simulator/service/purchase.test.ts', title: 'share no token, no order' }],
  },
  {
    id: 'environments.sandbox-balance',
    removed: 'The sandbox shows the balance of production.',
    file: 'simulator/wallet.ts',
    find: 'lastBalance(environment, currency)',
    replace: "lastBalance('production', currency)",
    failed: [{ file: 'test/simulator/service/purchase.test.ts', title: 'share no token, no order' }],
  },
  {
    id: 'environments.sandbox-never-debits',
    removed: 'All purchases are paid from the wallet of production.',
    file: 'simulator/wallet.ts',
    find: "this.#append(environment, 'debit', amount",
    replace: "this.#append('production', 'debit', amount",
    failed: [{ file: 'test/simulator/service/purchase.test.ts', title: 'share no token, no order' }],
  },
  {
    id: 'environments.sandbox-no-supplier',
    removed: 'The simulator can open a connection.',
    file: 'simulator/wallet.ts',
    find: "import Big from 'big.js';",
    replace: "import 'node:https';\nimport Big from 'big.js';",
    failed: [{ file: 'test/simulator/service/isolation.test.ts', title: 'opens connections only to send webhooks' }],
  },
];
