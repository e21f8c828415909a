import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Page } from '#simulator/store/page.ts';
import type { Store } from '#simulator/store/store.ts';

const ESIM_STATES = ['available', 'installed', 'active', 'consumed', 'cancelled'] as const;

const row = z.object({
  sequence: z.number(),
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  orderId: z.string(),
  packageId: z.number(),
  iccid: z.string(),
  activationCode: z.string(),
  status: z.enum(ESIM_STATES),
  installedAt: z.number().nullable(),
  activatedAt: z.number().nullable(),
  expiresAt: z.number().nullable(),
  /** Megabytes used until `usedAt`. An active eSIM has used more since. */
  usedMb: z.number(),
  usedAt: z.number().nullable(),
  createdAt: z.number(),
});

/** A stored eSIM. */
export type EsimRecord = Readonly<z.output<typeof row>>;

export type EsimCondition = Pick<
  EsimRecord,
  'status' | 'installedAt' | 'activatedAt' | 'expiresAt' | 'usedMb' | 'usedAt'
>;

type NewEsim = Pick<
  EsimRecord,
  'id' | 'environment' | 'orderId' | 'packageId' | 'iccid' | 'activationCode' | 'createdAt'
>;

export class Esims {
  readonly #insert;
  readonly #get;
  readonly #change;
  readonly #newestFirst;
  readonly #oldestFirst;
  readonly #count;

  constructor(store: Store) {
    this.#insert = store.command(
      `INSERT INTO esims (id, environment, order_id, package_id, iccid, activation_code, status, created_at)
       VALUES (:id, :environment, :orderId, :packageId, :iccid, :activationCode, 'available', :createdAt)`,
    );
    this.#get = store.query(row, 'SELECT * FROM esims WHERE id = :id');
    this.#change = store.command(
      `UPDATE esims SET status = :status, installed_at = :installedAt, activated_at = :activatedAt,
         expires_at = :expiresAt, used_mb = :usedMb, used_at = :usedAt
       WHERE id = :id`,
    );
    const filtered = '(:environment IS NULL OR environment = :environment)';
    this.#newestFirst = store.query(
      row,
      `SELECT * FROM esims WHERE ${filtered} AND sequence < :before ORDER BY sequence DESC LIMIT :limit`,
    );
    this.#oldestFirst = store.query(
      row,
      `SELECT * FROM esims WHERE ${filtered} AND sequence > :after ORDER BY sequence LIMIT :limit`,
    );
    this.#count = store.query(
      z.object({ count: z.number() }),
      'SELECT count(*) AS count FROM esims WHERE environment = :environment',
    );
  }

  insert(esim: NewEsim): void {
    this.#insert.run(esim);
  }

  /** @returns undefined when it does not exist, or belongs to another environment than the given one. */
  get(id: string, environment?: Environment): EsimRecord | undefined {
    const esim = this.#get.get({ id });
    return environment === undefined || esim?.environment === environment ? esim : undefined;
  }

  change(id: string, { status, installedAt, activatedAt, expiresAt, usedMb, usedAt }: EsimCondition): void {
    this.#change.run({ id, status, installedAt, activatedAt, expiresAt, usedMb, usedAt });
  }

  newestFirst(environment: Environment | undefined, page: Page): EsimRecord[] {
    const before = page.cursor ?? Number.MAX_SAFE_INTEGER;
    return this.#newestFirst.all({ environment: environment ?? null, before, limit: page.limit });
  }

  oldestFirst(environment: Environment | undefined, page: Page): EsimRecord[] {
    return this.#oldestFirst.all({ environment: environment ?? null, after: page.cursor ?? 0, limit: page.limit });
  }

  count(environment: Environment): number {
    return this.#count.get({ environment })?.count ?? 0;
  }
}
