/** The real side of the model: a stack, the work that was placed on it, and what must hold of it at every moment. */
import { sql } from 'drizzle-orm';
import { expect } from 'vitest';
import * as z from 'zod';
import { isFinal, mayFollow, WORK_STATUSES, type WorkStatus } from '#domain/lifecycle.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work.ts';
import { isFor } from '#test/support/books.ts';
import type { OrderDesk } from '#test/support/order-desk.ts';
import { waitFor } from '#test/support/wait-for.ts';

const shown = z.object({
  status: z.enum(WORK_STATUSES),
  max_price: z.object({ amount: z.string(), currency: z.string() }).nullable().optional(),
  attention: z.object({ reason: z.string() }).nullable(),
  /** Of an order that is completed. */
  esim_id: z.string().nullable().optional(),
});
export type Shown = z.output<typeof shown>;

/** What is known for certain of a piece of work, whatever the service does. */
export interface ModelledWork {
  readonly kind: WorkKind;
  /** The last limit that our API has accepted. */
  limit: string | null;
  /** Once it has ended, it stays so. */
  ended: WorkStatus | undefined;
}

/** What is known for certain. */
export interface Model {
  readonly work: ModelledWork[];
}

const PATHS: Readonly<Record<WorkKind, string>> = { order: '/v1/orders', topup: '/v1/topups', vpn_subscription: '/v1/vpn/subscriptions', cancellation: '/v1/cancellations' };
const TABLES: Readonly<Record<WorkKind, string>> = { order: 'orders', topup: 'topups', vpn_subscription: 'vpn_subscriptions', cancellation: 'cancellations' };

export class World {
  readonly desk: OrderDesk;
  /** Ids, in the order of the model's work. */
  readonly ids: string[] = [];

  constructor(desk: OrderDesk) {
    this.desk = desk;
  }

  /** Lets the database write down each step of each status: who reads now and then sees only some of them. */
  static async watchStatuses(desk: OrderDesk): Promise<void> {
    const { executor } = desk.stack.database;
    await executor.execute(sql.raw('CREATE TABLE status_steps (kind text, id text, from_status text, to_status text)'));
    await executor.execute(sql.raw(`CREATE FUNCTION note_status_step() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO status_steps VALUES (TG_ARGV[0], NEW.id, OLD.status, NEW.status); RETURN NULL; END $$`));
    for (const kind of WORK_KINDS) {
      await executor.execute(sql.raw(`CREATE TRIGGER note_status_step AFTER UPDATE ON ${TABLES[kind]} FOR EACH ROW
        WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION note_status_step('${kind}')`));
    }
  }

  path(model: Model, index: number): string {
    const { kind } = model.work[index]!;
    return `${PATHS[kind]}/${this.ids[index]!}`;
  }

  async show(model: Model, index: number): Promise<Shown> {
    const answer = await this.desk.stack.api.get(this.path(model, index));
    expect(answer.status, answer.text).toBe(200);
    return answer.read(shown);
  }

  /** Nothing is in its way. It takes a reference twice all the same: only the key keeps it from selling twice. */
  async calm(): Promise<void> {
    await this.desk.simulator.calm();
    await this.desk.simulator.dialect('reusable_references');
  }

  /** Ids of the eSIMs that were delivered so far. */
  async esims(model: Model): Promise<string[]> {
    const orders = [...model.work.entries()].filter(([, { kind }]) => kind === 'order');
    const delivered = await Promise.all(orders.map(async ([index]) => (await this.show(model, index)).esim_id));
    return delivered.filter((id) => typeof id === 'string');
  }

  /** What must hold after each command. */
  async check(model: Model): Promise<void> {
    for (const [index, known] of model.work.entries()) {
      const { status, max_price: limit } = await this.show(model, index);
      const id = this.ids[index];
      if (known.ended !== undefined) expect(status, `${id} had ended`).toBe(known.ended);
      if (isFinal(status)) known.ended = status;
      if (known.kind !== 'vpn_subscription') expect(limit?.amount ?? null, `the limit of ${id}`).toBe(known.limit);
    }
    await this.#everyStepIsAllowed();
    await this.#nothingCostsTwice();
  }

  async #everyStepIsAllowed(): Promise<void> {
    const { rows } = await this.desk.stack.database.executor.execute<{ kind: WorkKind; id: string; from_status: WorkStatus; to_status: WorkStatus }>(
      sql.raw('SELECT * FROM status_steps'),
    );
    const forbidden = rows.filter(({ kind, from_status: from, to_status: to }) => !mayFollow(kind, from, to));
    expect(forbidden).toEqual([]);
  }

  /** At no moment has the service more than one debit for a piece of work that it has not paid back. */
  async #nothingCostsTwice(): Promise<void> {
    // The attempts first: what is debited meanwhile belongs to one of them or is seen the next time.
    const attempts = await Promise.all(this.ids.map(async (id) => ({ id, rows: await this.desk.attemptsOf(id) })));
    const ledger = await this.desk.simulator.ledger();
    for (const { id, rows } of attempts) {
      const own = ledger.filter((line) => rows.some((attempt) => isFor(attempt, line)));
      const net = own.filter(({ type }) => type === 'debit').length - own.filter(({ type }) => type === 'credit').length;
      expect(net, `net debits of ${id}`).toBeLessThanOrEqual(1);
    }
  }

  /** What the service has done for an order, as a person sees who looks into its console and wallet. */
  async truthOf(id: string): Promise<{ bought?: string; costsNothing: boolean }> {
    const references = (await this.desk.attempts(id)).map(({ reference }) => reference);
    const sold = (await Promise.all(references.map((reference) => this.desk.simulator.orders(reference)))).flat();
    const bought = sold.find(({ status }) => status !== 'failed')?.id;
    const movements = await this.desk.ledger(id);
    const net = movements.filter(({ type }) => type === 'debit').length - movements.filter(({ type }) => type === 'credit').length;
    return { ...(bought === undefined ? {} : { bought }), costsNothing: net === 0 };
  }

  /** The service is well again and finishes what it has; then everything ends or waits for a person, and the books agree. */
  async settle(model: Model): Promise<void> {
    const { desk } = this;
    await this.calm();
    await waitFor(
      'everything has ended or waits for a person',
      async () => {
        for (const { id, status } of await desk.simulator.orders()) if (status === 'processing') await desk.simulator.completeOrder(id).catch(() => undefined);
        for (const { id, status } of await desk.simulator.topups()) if (status === 'processing') await desk.simulator.completeTopup(id).catch(() => undefined);
        const open: string[] = [];
        for (const index of model.work.keys()) {
          const { status } = await this.show(model, index);
          if (isFinal(status) || status === 'active' || status === 'needs_attention') continue;
          // What only waits for a price or a package that will not come is no longer wanted.
          if (status === 'held') await desk.stack.api.post(`${this.path(model, index)}/abandon`, { why: 'no longer wanted' });
          open.push(`${this.ids[index]} is ${status}`);
        }
        if (open.length > 0) throw new Error(open.join(', '));
        return true;
      },
      { timeoutMs: 90_000, everyMs: 300, context: () => desk.stack.tails() },
    );
    await this.check(model);
    for (const [index, id] of this.ids.entries()) {
      if ((await this.show(model, index)).status === 'needs_attention') desk.expectUnsettled(id);
    }
    await desk.checkBooks();
  }
}
