/** `docs/simulator.md` documents the variables. */
import * as z from 'zod';
import { ConfigurationError } from '#config/configuration-error.ts';
import { parseEnvironment, type Environment } from '#config/environment.ts';
import { secret } from '#config/secret-files.ts';
import { durationMs, flag, port, urlOf } from '#config/variable-types.ts';
import { isDecimal } from '#domain/money/money.ts';

export { BASE_PATH, SANDBOX_SUFFIX } from '#domain/service/service-address.ts';

const balance = (fallback: string) =>
  z
    .string()
    .refine((text) => isDecimal(text) && !text.startsWith('-'), 'must be an amount of zero or more, such as 100.00')
    .default(fallback);

export const SIMULATOR_FIELDS = {
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** The admin API has no authentication: use another address than loopback only on a separate machine. */
  SIMULATOR_HOST: z.string().min(1).default('127.0.0.1'),
  SIMULATOR_PORT: port(4000),
  SIMULATOR_DATA: z.string().min(1).default('.data/simulator.sqlite'),
  SIMULATOR_WEBHOOK_URL: urlOf('http:', 'https:').optional(),
  /** With a URL and without a secret, webhooks begin after a call that creates a secret. */
  SIMULATOR_WEBHOOK_SECRET: secret(z.string().min(8, 'must have 8 characters or more').optional()),
  SIMULATOR_WEBHOOK_TIMEOUT: durationMs('10s'),
  /** First wait; doubled each time. */
  SIMULATOR_WEBHOOK_RETRY_DELAY: durationMs('2s'),
  SIMULATOR_WEBHOOK_ATTEMPTS: z.coerce.number().int().min(1).max(50).default(12),
  SIMULATOR_EMAIL: z.email().default('reseller@example.com'),
  SIMULATOR_PASSWORD: secret(z.string().min(1).default('simulator-password')),
  /** Default: a random seed for each data file. */
  SIMULATOR_SEED: z.string().min(1).max(128).optional(),
  SIMULATOR_HEADER_PREFIX: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'must be the beginning of a header name, such as X-Acme')
    .optional(),
  SIMULATOR_APPROVED: flag(false),
  SIMULATOR_PROCESSING_DELAY: durationMs('2s'),
  SIMULATOR_REVIEW_DELAY: durationMs('24h'),
  /** Of one token in a window; default: no limit. */
  SIMULATOR_RATE_LIMIT: z.coerce
    .number({ message: 'must be a number of calls' })
    .int()
    .min(1)
    .max(1_000_000)
    .optional(),
  SIMULATOR_RATE_WINDOW: durationMs('1m'),
  SIMULATOR_SANDBOX_BALANCE: balance('100000.00'),
  SIMULATOR_PRODUCTION_BALANCE: balance('0.00'),
};

export type SimulatorConfig = ReturnType<typeof readSimulatorConfig>;

export interface SimulatorNames {
  readonly dialects: readonly [string, ...string[]];
  readonly shapes: readonly [string, ...string[]];
  readonly faultProfiles: readonly [string, ...string[]];
}

/** @throws ConfigurationError */
export function readSimulatorConfig(names: SimulatorNames, environment: Environment = process.env) {
  const raw = readFields(names, environment);
  return {
    logLevel: raw.LOG_LEVEL,
    host: raw.SIMULATOR_HOST,
    port: raw.SIMULATOR_PORT,
    dataFile: raw.SIMULATOR_DATA,
    webhook: webhookOf(raw.SIMULATOR_WEBHOOK_URL, raw.SIMULATOR_WEBHOOK_SECRET),
    webhookTimeoutMs: raw.SIMULATOR_WEBHOOK_TIMEOUT,
    webhookRetryDelayMs: raw.SIMULATOR_WEBHOOK_RETRY_DELAY,
    webhookAttempts: raw.SIMULATOR_WEBHOOK_ATTEMPTS,
    email: raw.SIMULATOR_EMAIL,
    password: raw.SIMULATOR_PASSWORD,
    seed: raw.SIMULATOR_SEED,
    dialect: raw.SIMULATOR_DIALECT,
    shape: raw.SIMULATOR_SHAPE,
    headerPrefix: raw.SIMULATOR_HEADER_PREFIX,
    faultProfile: raw.SIMULATOR_FAULT_PROFILE,
    approved: raw.SIMULATOR_APPROVED,
    processingDelayMs: raw.SIMULATOR_PROCESSING_DELAY,
    reviewDelayMs: raw.SIMULATOR_REVIEW_DELAY,
    rateLimit: raw.SIMULATOR_RATE_LIMIT,
    rateWindowMs: raw.SIMULATOR_RATE_WINDOW,
    sandboxBalance: raw.SIMULATOR_SANDBOX_BALANCE,
    productionBalance: raw.SIMULATOR_PRODUCTION_BALANCE,
  };
}

function webhookOf(url: string | undefined, secret: string | undefined) {
  return url === undefined ? undefined : { url, ...(secret === undefined ? {} : { secret }) };
}

function readFields(names: SimulatorNames, environment: Environment) {
  const schema = z
    .object({
      ...SIMULATOR_FIELDS,
      SIMULATOR_DIALECT: z.enum(names.dialects).default(names.dialects[0]),
      SIMULATOR_SHAPE: z.enum(names.shapes).default(names.shapes[0]),
      SIMULATOR_FAULT_PROFILE: z.enum(names.faultProfiles).default(names.faultProfiles[0]),
    })
    .superRefine(({ SIMULATOR_WEBHOOK_URL: url, SIMULATOR_WEBHOOK_SECRET: secret }, context) => {
      if (url !== undefined || secret === undefined) return;
      context.addIssue({
        code: 'custom',
        path: ['SIMULATOR_WEBHOOK_URL'],
        message: 'is required with SIMULATOR_WEBHOOK_SECRET',
      });
    });
  try {
    return parseEnvironment(schema, environment);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(error.problems, 'docs/simulator.md');
  }
}
