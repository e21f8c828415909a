/** Texts contain variables, addresses and counts, never a secret. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'failure' | 'not_checked';
  readonly detail: string;
  readonly advice?: string;
}

export const ok = (detail: string): Finding => ({ status: 'ok', detail });

/** The part works, but with a restriction or not for long. */
export const warning = (detail: string, advice: string): Finding => ({ status: 'warning', detail, advice });

/** Orders may fail or stop until this is fixed. */
export const failure = (detail: string, advice: string): Finding => ({ status: 'failure', detail, advice });

/** @param reason a clause. */
export const notChecked = (reason: string): Finding => ({ status: 'not_checked', detail: reason });

export const CHECKS = {
  configuration: 'configuration',
  database: 'database',
  migrations: 'migrations',
  installation: 'installation stamp',
  encryption_keys: 'encryption keys',
  temporal: 'Temporal',
  namespace: 'namespace',
  search_attributes: 'search attributes',
  worker_version: 'worker version',
  workflow_tasks: 'workflow tasks',
  login: 'login',
  token: 'token lifetime',
  approval: 'production approval',
  wallet: 'wallet',
  clock: 'clock',
  webhook_secret: 'webhook secret',
  webhook_address: 'webhook address',
  webhook_arrival: 'webhook arrival',
  contract: 'contract',
  capabilities: 'capabilities',
  first_purchase_check: 'first purchase',
  deliveries: 'deliveries',
} as const;

export type CheckName = keyof typeof CHECKS;
export type Findings = Readonly<Record<CheckName, Finding>>;
