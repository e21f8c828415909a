import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { isoTime } from '#simulator/clock.ts';
import { notFound, ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Environment } from '#simulator/store/store.ts';

export interface WebhookTarget {
  readonly url: string;
  readonly secret: string;
}

/** The service's own call may create the secret. */
const chosenTarget = z.object({ url: z.string(), secret: z.string().optional() });
type ChosenTarget = Readonly<z.output<typeof chosenTarget>>;

/** `previous`: before the rotation. The target's secret is not repeated here. */
const storedSecret = z.object({ secret: z.string(), createdAt: z.number(), previous: z.string().optional() });

const secretSetting = (environment: Environment) => `webhook_secret.${environment}`;

export function webhookTarget(simulation: Simulation, environment: Environment): WebhookTarget | undefined {
  const url = chosen(simulation, environment)?.url;
  const secret = signingSecret(simulation, environment);
  return url === undefined || secret === undefined ? undefined : { url, secret };
}

function chosen({ store, options }: Simulation, environment: Environment): ChosenTarget | undefined {
  const stored = store.setting(`webhook_target.${environment}`, chosenTarget.nullable());
  if (stored !== undefined) return stored ?? undefined;
  const { webhookUrl: url, webhookSecret: secret } = options;
  return url === undefined ? undefined : { url, secret };
}

export function webhookUrl(simulation: Simulation, environment: Environment): string | undefined {
  return chosen(simulation, environment)?.url;
}

/** Undefined: nothing is sent. The target's secret replaces all others; without one, they stay. */
export function chooseTarget(simulation: Simulation, environment: Environment, target: ChosenTarget | undefined): void {
  const { store } = simulation;
  const secret = target?.secret ?? chosen(simulation, environment)?.secret;
  store.set(`webhook_target.${environment}`, target === undefined ? null : { url: target.url, secret });
  if (target?.secret !== undefined) store.remove('settings', { name: secretSetting(environment) });
}

/** The previous secret signs for a time after a rotation, as the dialect says. */
export function signingSecret(simulation: Simulation, environment: Environment): string | undefined {
  const { store, clock, dialect } = simulation;
  const stored = store.setting(secretSetting(environment), storedSecret);
  if (stored === undefined) return chosen(simulation, environment)?.secret;
  const rotated = clock.now() >= stored.createdAt + dialect.secret_rotates_after_ms;
  return rotated ? stored.secret : (stored.previous ?? stored.secret);
}

/** @throws ServiceError 409 when there is a secret: it is shown once and can only be rotated. */
export function createSecret(simulation: Simulation, environment: Environment) {
  if (signingSecret(simulation, environment) !== undefined) {
    const message = 'There is already a webhook secret. Rotate it to get a new one.';
    throw new ServiceError(409, 'webhook_secret_exists', message);
  }
  return issue(simulation, environment, undefined);
}

/** @throws ServiceError 404 when there is none. */
export function rotateSecret(simulation: Simulation, environment: Environment) {
  const previous = signingSecret(simulation, environment);
  if (previous === undefined) throw notFound('webhook secret');
  return issue(simulation, environment, previous);
}

function issue({ store, clock }: Simulation, environment: Environment, previous: string | undefined) {
  const secret = `whsec_${randomBytes(24).toString('base64url')}`;
  const createdAt = clock.now();
  store.set(secretSetting(environment), { secret, createdAt, previous });
  return { secret, created_at: isoTime(createdAt) };
}
