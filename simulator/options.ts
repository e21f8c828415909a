import type { SimulatorConfig } from '#config/simulator.ts';
import type { DialectName } from '#simulator/dialect.ts';

/** What a simulator needs to know; all of it has a default that suits tests. Durations are in milliseconds. */
export interface SimulatorOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: the system chooses. */
  readonly port?: number;
  /** Path of the data file; default `:memory:`. */
  readonly dataFile?: string;
  readonly webhook?: { readonly url: string; readonly secret: string };
  readonly webhookTimeoutMs?: number;
  /** First wait before a delivery is tried again; doubled each time. */
  readonly webhookRetryDelayMs?: number;
  readonly webhookAttempts?: number;
  readonly email?: string;
  readonly password?: string;
  readonly seed?: string;
  readonly dialect?: DialectName;
  /** Is the reseller approved for production? */
  readonly approved?: boolean;
  readonly processingDelayMs?: number;
  readonly sandboxBalance?: string;
  readonly productionBalance?: string;
  /** Default `silent`. */
  readonly logLevel?: string;
  /** The machine's clock, epoch milliseconds. */
  readonly now?: () => number;
}

type Optional = 'webhook' | 'seed';

export type ResolvedOptions = Required<Omit<SimulatorOptions, Optional>> & {
  readonly [Name in Optional]: SimulatorOptions[Name] | undefined;
};

export function resolveOptions(options: SimulatorOptions): ResolvedOptions {
  return {
    host: '127.0.0.1',
    port: 0,
    dataFile: ':memory:',
    webhookTimeoutMs: 10_000,
    webhookRetryDelayMs: 2_000,
    webhookAttempts: 12,
    email: 'reseller@example.com',
    password: 'simulator-password',
    dialect: 'replays',
    approved: false,
    processingDelayMs: 2_000,
    sandboxBalance: '100000.00',
    productionBalance: '0.00',
    logLevel: 'silent',
    now: Date.now,
    ...options,
    webhook: options.webhook,
    seed: options.seed,
  };
}

/** @param dialect the configuration's dialect, known to be one. */
export function optionsOf(config: SimulatorConfig, dialect: DialectName): SimulatorOptions {
  const { webhook, seed, ...rest } = config;
  return {
    ...rest,
    dialect,
    ...(webhook === undefined ? {} : { webhook }),
    ...(seed === undefined ? {} : { seed }),
  };
}
