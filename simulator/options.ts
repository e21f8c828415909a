import type { SimulatorConfig } from '#config/simulator.ts';
import { dialectNames, type DialectName } from '#simulator/behaviour/dialect.ts';
import { faultProfileNames, type FaultProfileName } from '#simulator/behaviour/faults.ts';
import { shapeNames, type ShapeName } from '#simulator/shapes/shape.ts';

export interface SimulatorOptions {
  readonly host?: string;
  /** 0 takes any free port. */
  readonly port?: number;
  readonly dataFile?: string;
  /** Without a secret, nothing is sent until the service's own call creates one. */
  readonly webhook?: { readonly url: string; readonly secret?: string } | undefined;
  readonly webhookTimeoutMs?: number;
  /** Doubles with each retry. */
  readonly webhookRetryDelayMs?: number;
  readonly webhookAttempts?: number;
  readonly email?: string;
  readonly password?: string;
  readonly seed?: string | undefined;
  readonly dialect?: DialectName;
  readonly shape?: ShapeName;
  /** Of the webhook header names; overrides that of the shape. */
  readonly headerPrefix?: string | undefined;
  readonly faultProfile?: FaultProfileName;
  readonly approved?: boolean;
  readonly processingDelayMs?: number;
  readonly reviewDelayMs?: number;
  /** Of one token per window; unlimited when absent. */
  readonly rateLimit?: number | undefined;
  readonly rateWindowMs?: number;
  readonly sandboxBalance?: string;
  readonly productionBalance?: string;
  readonly logLevel?: string;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

type Optional = 'webhook' | 'seed' | 'rateLimit' | 'headerPrefix';

export type ResolvedOptions = Required<Omit<SimulatorOptions, Optional>> & Pick<SimulatorOptions, Optional>;

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
    shape: 'plain',
    faultProfile: 'none',
    approved: false,
    processingDelayMs: 2_000,
    reviewDelayMs: 86_400_000,
    rateWindowMs: 60_000,
    sandboxBalance: '100000.00',
    productionBalance: '0.00',
    logLevel: 'silent',
    now: Date.now,
    ...options,
  };
}

/** The configuration has validated all names. */
export function optionsOf({ dialect, shape, faultProfile, ...rest }: SimulatorConfig): SimulatorOptions {
  return {
    ...rest,
    dialect: dialectNames.find((name) => name === dialect) ?? dialectNames[0],
    shape: shapeNames.find((name) => name === shape) ?? shapeNames[0],
    faultProfile: faultProfileNames.find((name) => name === faultProfile) ?? faultProfileNames[0],
  };
}
