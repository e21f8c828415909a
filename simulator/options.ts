/** `docs/simulator.md` documents the variables. */
import * as z from 'zod';
import { ConfigurationError } from '#config/configuration-error.ts';
import { type Environment, parseEnvironment } from '#config/environment.ts';
import { secret } from '#config/secret-files.ts';
import { durationMs, flag, port, urlOf } from '#config/variable-types.ts';
import { dialectNames } from '#simulator/behaviour/dialect.ts';
import { faultProfileNames } from '#simulator/behaviour/faults.ts';
import { brand, shapeNames } from '#simulator/shapes/shape.ts';

const balance = (fallback: string) =>
  z
    .string()
    .regex(/^(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/, 'must be an amount of zero or more, such as 100.00')
    .default(fallback);

/** By the name of the option. */
const SETTINGS = {
  logLevel: ['LOG_LEVEL', z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info')],
  /** The admin API has no authentication: use another address than loopback only on a separate machine. */
  host: ['SIMULATOR_HOST', z.string().min(1).default('127.0.0.1')],
  port: ['SIMULATOR_PORT', port(4000)],
  dataFile: ['SIMULATOR_DATA', z.string().min(1).default('.data/simulator.sqlite')],
  webhookUrl: ['SIMULATOR_WEBHOOK_URL', urlOf('http:', 'https:').optional()],
  /** With a URL and without a secret, webhooks begin after a call that creates a secret. */
  webhookSecret: ['SIMULATOR_WEBHOOK_SECRET', secret(z.string().min(8, 'must have 8 characters or more').optional())],
  webhookTimeoutMs: ['SIMULATOR_WEBHOOK_TIMEOUT', durationMs('10s')],
  /** First wait; doubled each time. */
  webhookRetryDelayMs: ['SIMULATOR_WEBHOOK_RETRY_DELAY', durationMs('2s')],
  webhookAttempts: ['SIMULATOR_WEBHOOK_ATTEMPTS', z.coerce.number().int().min(1).max(50).default(12)],
  email: ['SIMULATOR_EMAIL', z.email().default('reseller@example.com')],
  password: ['SIMULATOR_PASSWORD', secret(z.string().min(1).default('simulator-password'))],
  /** Default: a random seed for each data file. */
  seed: ['SIMULATOR_SEED', z.string().min(1).max(128).optional()],
  /** Overrides that of the shape. */
  headerPrefix: ['SIMULATOR_HEADER_PREFIX', brand.optional()],
  approved: ['SIMULATOR_APPROVED', flag(false)],
  processingDelayMs: ['SIMULATOR_PROCESSING_DELAY', durationMs('2s')],
  reviewDelayMs: ['SIMULATOR_REVIEW_DELAY', durationMs('24h')],
  /** Of one token in a window; default: no limit. */
  rateLimit: [
    'SIMULATOR_RATE_LIMIT',
    z.coerce.number({ message: 'must be a number of calls' }).int().min(1).max(1_000_000).optional(),
  ],
  rateWindowMs: ['SIMULATOR_RATE_WINDOW', durationMs('1m')],
  sandboxBalance: ['SIMULATOR_SANDBOX_BALANCE', balance('100000.00')],
  productionBalance: ['SIMULATOR_PRODUCTION_BALANCE', balance('0.00')],
  dialect: ['SIMULATOR_DIALECT', z.enum(dialectNames).default(dialectNames[0])],
  shape: ['SIMULATOR_SHAPE', z.enum(shapeNames).default(shapeNames[0])],
  faultProfile: ['SIMULATOR_FAULT_PROFILE', z.enum(faultProfileNames).default(faultProfileNames[0])],
} as const;

type Settings = { readonly [Name in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[Name][1]> };

/** `now` gives epoch milliseconds. */
export type ResolvedOptions = Settings & { readonly now: () => number };
export type SimulatorOptions = Partial<ResolvedOptions>;

/** By the name of the variable. */
export const SIMULATOR_FIELDS: Readonly<Record<string, z.ZodType>> = Object.fromEntries<z.ZodType>(
  Object.values(SETTINGS),
);

/** @throws ConfigurationError */
export function readSettings(environment?: Environment): Settings {
  const schema = z.object(SIMULATOR_FIELDS).superRefine((values, context) => {
    if (values['SIMULATOR_WEBHOOK_URL'] !== undefined || values['SIMULATOR_WEBHOOK_SECRET'] === undefined) return;
    const message = 'is required with SIMULATOR_WEBHOOK_SECRET';
    context.addIssue({ code: 'custom', path: ['SIMULATOR_WEBHOOK_URL'], message });
  });
  try {
    const values = parseEnvironment(schema, environment);
    return settingsOf((variable) => values[variable]);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(error.problems, 'docs/simulator.md');
  }
}

/** Without a data file, on any free port, if the options do not say otherwise. */
export function resolveOptions(options: SimulatorOptions): ResolvedOptions {
  const defaults = settingsOf((_variable, schema) => schema.parse(undefined));
  return { ...defaults, port: 0, dataFile: ':memory:', logLevel: 'silent', now: Date.now, ...options };
}

function settingsOf(valueOf: (variable: string, schema: z.ZodType) => unknown): Settings {
  const entries = Object.entries(SETTINGS).map(([name, [variable, schema]]) => [name, valueOf(variable, schema)]);
  return Object.fromEntries(entries) as Settings;
}
