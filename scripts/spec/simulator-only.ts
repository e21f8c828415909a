/**
 * Statements about what the service itself does, which nothing of the product can do or prevent: by their ids, why no
 * test of the product can fail for them. Their removals are made in the simulator, which stands in for the service.
 */
export const SIMULATOR_ONLY: Readonly<Record<string, string>> = {
  'environments.production-wallet': 'The service keeps the wallets; the product chooses an address only.',
  'environments.sandbox-balance': 'The service keeps the wallets; the product chooses an address only.',
  'environments.sandbox-never-debits': 'The service keeps the wallets; the product chooses an address only.',
  'environments.sandbox-no-supplier': 'The supplier is behind the service; the product does not know it.',
};
