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
export interface ChosenTarget {
  readonly url: string;
  readonly secret?: string | undefined;
}

const storedTarget = z.object({ url: z.string(), secret: z.string().optional() }).nullable();

const storedSecret = z.object({
  secret: z.string(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** Before the rotation. The target's secret is not repeated here. */
  previous: z.string().optional(),
});
type StoredSecret = z.output<typeof storedSecret>;

export class WebhookEndpoints {
  readonly #simulation: Simulation;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  target(environment: Environment): WebhookTarget | undefined {
    const url = this.url(environment);
    const secret = this.#signingSecret(environment);
    return url === undefined || secret === undefined ? undefined : { url, secret };
  }

  url(environment: Environment): string | undefined {
    return this.#chosen(environment)?.url;
  }

  hasSecret(environment: Environment): boolean {
    return this.#signingSecret(environment) !== undefined;
  }

  /** Undefined: nothing is sent. The target's secret replaces all others; without one, they stay. */
  choose(environment: Environment, target: ChosenTarget | undefined): void {
    const secret = target?.secret ?? this.#chosen(environment)?.secret;
    const stored = target === undefined ? null : { url: target.url, secret };
    this.#simulation.settings.set(`webhook_target.${environment}`, stored);
    if (target?.secret !== undefined) this.#simulation.settings.remove(secretSetting(environment));
  }

  /** @throws ServiceError 409 when there is a secret: it is shown once and can only be rotated. */
  createSecret(environment: Environment): { secret: string; created_at: string } {
    if (this.hasSecret(environment)) {
      const message = 'There is already a webhook secret. Rotate it to get a new one.';
      throw new ServiceError(409, 'webhook_secret_exists', message);
    }
    return this.#issue(environment, undefined);
  }

  /** @throws ServiceError 404 when there is none. */
  rotateSecret(environment: Environment): { secret: string; created_at: string } {
    const previous = this.#signingSecret(environment);
    if (previous === undefined) throw notFound('webhook secret');
    return this.#issue(environment, previous);
  }

  #issue(environment: Environment, previous: string | undefined): { secret: string; created_at: string } {
    const secret = `whsec_${randomBytes(24).toString('base64url')}`;
    const createdAt = this.#simulation.clock.now();
    this.#simulation.settings.set(secretSetting(environment), {
      secret,
      createdAt,
      previous,
    } satisfies Partial<StoredSecret>);
    return { secret, created_at: isoTime(createdAt) };
  }

  /** The previous secret signs for a time after a rotation, as the dialect says. */
  #signingSecret(environment: Environment): string | undefined {
    const stored = this.#simulation.settings.get(secretSetting(environment), storedSecret);
    if (stored === undefined) return this.#chosen(environment)?.secret;
    const rotated = this.#simulation.clock.now() >= stored.createdAt + this.#simulation.dialect.secret_rotates_after_ms;
    return rotated ? stored.secret : (stored.previous ?? stored.secret);
  }

  #chosen(environment: Environment): ChosenTarget | undefined {
    const stored = this.#simulation.settings.get(`webhook_target.${environment}`, storedTarget);
    return stored === undefined ? this.#simulation.options.webhook : (stored ?? undefined);
  }
}

function secretSetting(environment: Environment): string {
  return `webhook_secret.${environment}`;
}
