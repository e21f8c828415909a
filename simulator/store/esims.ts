import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Store } from '#simulator/store/store.ts';

const row = z.object({
  sequence: z.number(),
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  orderId: z.string(),
  iccid: z.string(),
  activationCode: z.string(),
  status: z.string(),
  installedAt: z.number().nullable(),
  activatedAt: z.number().nullable(),
  expiresAt: z.number().nullable(),
  createdAt: z.number(),
});

/** An eSIM as the simulator keeps it. */
export type EsimRecord = Readonly<z.output<typeof row>>;

export class Esims {
  readonly #insert;
  readonly #get;
  readonly #count;

  constructor(store: Store) {
    this.#insert = store.command(
      `INSERT INTO esims (id, environment, order_id, iccid, activation_code, status, created_at)
       VALUES (:id, :environment, :orderId, :iccid, :activationCode, 'available', :createdAt)`,
    );
    this.#get = store.query(row, 'SELECT * FROM esims WHERE id = :id AND environment = :environment');
    this.#count = store.query(
      z.object({ count: z.number() }),
      'SELECT count(*) AS count FROM esims WHERE environment = :environment',
    );
  }

  insert(esim: Pick<EsimRecord, 'id' | 'environment' | 'orderId' | 'iccid' | 'activationCode' | 'createdAt'>): void {
    this.#insert.run(esim);
  }

  get(environment: Environment, id: string): EsimRecord | undefined {
    return this.#get.get({ environment, id });
  }

  count(environment: Environment): number {
    return this.#count.get({ environment })?.count ?? 0;
  }
}
