import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { Dialect } from '#simulator/behaviour/dialect.ts';
import { isoTime, type Clock } from '#simulator/clock.ts';
import type { Environment } from '#simulator/environment.ts';
import { notFound, ServiceError } from '#simulator/service/errors.ts';
import type { Settings } from '#simulator/store/settings.ts';

/** Where webhooks go and what signs them. */
export interface WebhookTarget {
  readonly url: string;
  readonly secret: string;
}

/** What the configuration or the admin API says; the secret may come from the service's own call instead. */
export interface ChosenTarget {
  readonly url: string;
  readonly secret?: string | undefined;
}

const storedTarget = z.object({ url: z.string(), secret: z.string().optional() }).nullable();

const storedSecret = z.object({
  secret: z.string(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** The one that a rotation replaced; the secret of the target is not repeated here. */
  previous: z.string().optional(),
});
type StoredSecret = z.output<typeof storedSecret>;

/** Webhook addresses and secrets, apart for each environment. */
export class WebhookEndpoints {
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #dialect: () => Dialect;
  readonly #configured: ChosenTarget | undefined;

  /** @param configured for both environments, until the admin API says otherwise. */
  constructor(settings: Settings, clock: Clock, dialect: () => Dialect, configured: ChosenTarget | undefined) {
    this.#settings = settings;
    this.#clock = clock;
    this.#dialect = dialect;
    this.#configured = configured;
  }

  /** @returns undefined when there is no address, or nothing to sign with yet. */
  target(environment: Environment): WebhookTarget | undefined {
    const url = this.url(environment);
    const secret = this.#signingSecret(environment);
    return url === undefined || secret === undefined ? undefined : { url, secret };
  }

  url(environment: Environment): string | undefined {
    return this.#chosen(environment)?.url;
  }

  /** Is there a secret, whoever made it? */
  hasSecret(environment: Environment): boolean {
    return this.#signingSecret(environment) !== undefined;
  }

  /**
   * @param target undefined: nothing is sent any more. A secret in it replaces every other; without one those that are
   * there stay.
   */
  choose(environment: Environment, target: ChosenTarget | undefined): void {
    const secret = target?.secret ?? this.#chosen(environment)?.secret;
    const stored = target === undefined ? null : { url: target.url, secret };
    this.#settings.set(`webhook_target.${environment}`, stored);
    if (target?.secret !== undefined) this.#settings.remove(secretSetting(environment));
  }

  /** Makes the first secret. @throws ServiceError 409 when there is one: shown once, it can only be rotated. */
  createSecret(environment: Environment): { secret: string; created_at: string } {
    if (this.hasSecret(environment)) {
      const message = 'There is a webhook secret already; rotate it to get a new one.';
      throw new ServiceError(409, 'webhook_secret_exists', message);
    }
    return this.#issue(environment, undefined);
  }

  /** Replaces the secret. @throws ServiceError 404 when there is none. */
  rotateSecret(environment: Environment): { secret: string; created_at: string } {
    const previous = this.#signingSecret(environment);
    if (previous === undefined) throw notFound('webhook secret');
    return this.#issue(environment, previous);
  }

  #issue(environment: Environment, previous: string | undefined): { secret: string; created_at: string } {
    const secret = `whsec_${randomBytes(24).toString('base64url')}`;
    const createdAt = this.#clock.now();
    this.#settings.set(secretSetting(environment), { secret, createdAt, previous } satisfies Partial<StoredSecret>);
    return { secret, created_at: isoTime(createdAt) };
  }

  /** The newest secret; right after a rotation, as long as the dialect says, the one before. */
  #signingSecret(environment: Environment): string | undefined {
    const stored = this.#settings.get(secretSetting(environment), storedSecret);
    if (stored === undefined) return this.#chosen(environment)?.secret;
    const rotated = this.#clock.now() >= stored.createdAt + this.#dialect().secret_rotates_after_ms;
    return rotated ? stored.secret : (stored.previous ?? stored.secret);
  }

  #chosen(environment: Environment): ChosenTarget | undefined {
    const stored = this.#settings.get(`webhook_target.${environment}`, storedTarget);
    return stored === undefined ? this.#configured : (stored ?? undefined);
  }
}

function secretSetting(environment: Environment): string {
  return `webhook_secret.${environment}`;
}
