import * as z from 'zod';
import type { Store } from '#simulator/store/store.ts';

const row = z.object({
  /** Id of the sale. */
  id: z.string(),
  status: z.enum(['active', 'cancelled', 'expired']),
  username: z.string(),
  password: z.string(),
  server: z.string(),
  startedAt: z.number(),
  expiresAt: z.number(),
  cancelledAt: z.number().nullable(),
  /** Time at which an accepted cancellation takes effect. */
  cancelDueAt: z.number().nullable(),
});

/** A VPN subscription that has become active; before that, only its sale exists. */
export type SubscriptionRecord = Readonly<z.output<typeof row>>;

export class Subscriptions {
  readonly #insert;
  readonly #get;
  readonly #end;
  readonly #setCancelDue;
  readonly #due;
  readonly #nextDue;
  readonly #all;

  constructor(store: Store) {
    this.#insert = store.command(
      `INSERT INTO vpn_subscriptions (id, status, username, password, server, started_at, expires_at)
       VALUES (:id, 'active', :username, :password, :server, :startedAt, :expiresAt)`,
    );
    this.#get = store.query(row, 'SELECT * FROM vpn_subscriptions WHERE id = :id');
    this.#end = store.command(
      `UPDATE vpn_subscriptions SET status = :status, cancelled_at = :cancelledAt, cancel_due_at = NULL
       WHERE id = :id AND status = 'active'`,
    );
    this.#setCancelDue = store.command(
      `UPDATE vpn_subscriptions SET cancel_due_at = :dueAt WHERE id = :id AND status = 'active'`,
    );
    this.#due = store.query(
      row,
      `SELECT * FROM vpn_subscriptions
       WHERE status = 'active' AND (expires_at <= :now OR cancel_due_at <= :now) ORDER BY expires_at, id`,
    );
    this.#nextDue = store.query(
      z.object({ due: z.number().nullable() }),
      `SELECT min(due) AS due FROM (
         SELECT min(expires_at) AS due FROM vpn_subscriptions WHERE status = 'active'
         UNION ALL SELECT min(cancel_due_at) FROM vpn_subscriptions WHERE cancel_due_at IS NOT NULL)`,
    );
    this.#all = store.query(
      z.object({ status: z.string(), count: z.number() }),
      `SELECT coalesce(s.status, sales.status) AS status, count(*) AS count
       FROM sales LEFT JOIN vpn_subscriptions AS s ON s.id = sales.id
       WHERE sales.environment = :environment AND sales.kind = 'vpn' GROUP BY 1`,
    );
  }

  insert(subscription: Omit<SubscriptionRecord, 'status' | 'cancelledAt' | 'cancelDueAt'>): void {
    this.#insert.run(subscription);
  }

  get(id: string): SubscriptionRecord | undefined {
    return this.#get.get({ id });
  }

  /** @returns false when it is no longer active. */
  end(id: string, status: 'cancelled' | 'expired', now: number): boolean {
    return this.#end.run({ id, status, cancelledAt: status === 'cancelled' ? now : null }) === 1;
  }

  setCancelDue(id: string, dueAt: number): void {
    this.#setCancelDue.run({ id, dueAt });
  }

  /** Subscriptions that end now, by expiry or by cancellation. */
  due(now: number): SubscriptionRecord[] {
    return this.#due.all({ now });
  }

  nextDue(): number | undefined {
    return this.#nextDue.get()?.due ?? undefined;
  }

  countByStatus(environment: string): Record<string, number> {
    return Object.fromEntries(this.#all.all({ environment }).map(({ status, count }) => [status, count]));
  }
}
