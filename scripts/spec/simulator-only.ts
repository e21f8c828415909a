/**
 * Statements about the service alone, with the reason why no test of the product can fail for them. Their removals are
 * made in the simulator.
 */
export const SIMULATOR_ONLY: Readonly<Record<string, string>> = {
  'environments.production-wallet': 'The service keeps the wallets; the product only chooses an address.',
  'environments.sandbox-balance': 'The service keeps the wallets; the product only chooses an address.',
  'environments.sandbox-never-debits': 'The service keeps the wallets; the product only chooses an address.',
  'environments.sandbox-no-supplier': 'The supplier is behind the service; the product does not know it.',
};
