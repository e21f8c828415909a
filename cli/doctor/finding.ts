/** What one check found. Its texts name variables, addresses and counts, never a secret. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'failure' | 'not_checked';
  /** One line: what is so. */
  readonly detail: string;
  /** What to do about it. */
  readonly advice?: string;
}

export function ok(detail: string): Finding {
  return { status: 'ok', detail };
}

/** Works, but not as well as it should, or not for long. */
export function warning(detail: string, advice: string): Finding {
  return { status: 'warning', detail, advice };
}

/** Orders cannot be relied upon before this is put right. */
export function failure(detail: string, advice: string): Finding {
  return { status: 'failure', detail, advice };
}

/** @param reason what stands in the way, as a clause. */
export function notChecked(reason: string): Finding {
  return { status: 'not_checked', detail: reason };
}

/** All checks, in the order in which they are shown. */
export const CHECKS = {
  configuration: 'configuration',
  database: 'database',
  migrations: 'migrations',
  installation: 'installation stamp',
  encryption_keys: 'encryption keys',
  temporal: 'Temporal',
  namespace: 'namespace',
  search_attributes: 'search attributes',
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
  first_contact: 'first contact',
} as const;

export type CheckName = keyof typeof CHECKS;
export type Findings = Readonly<Record<CheckName, Finding>>;
