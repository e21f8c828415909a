/** The true state of work at the service, as its console and wallet show it to an operator. */
import type { CaseVerdict } from '#domain/operator/operator-actions.ts';
import type { Model, World } from '#test/fault/model/world.ts';
import { isFor } from '#test/support/work/books/differences.ts';

export interface Truth {
  /** The true verdicts, best first; empty while undecided. */
  readonly verdicts: readonly CaseVerdict[];
  /** With `bought`, the service's id in the API's field. */
  readonly names: Readonly<Record<string, string>>;
}

/** A resource of the service that belongs to a piece of work. */
interface Sale {
  readonly id: string;
  readonly status: string;
}

/** @returns the true state of a piece of work, independent of the product's records. */
export async function truthOf(world: World, { work }: Model, index: number): Promise<Truth> {
  const { simulator } = world.desk;
  const id = world.ids[index]!;
  const attempts = await world.desk.attemptsOf(id);
  const references = new Set(attempts.map(({ reference }) => reference));
  switch (work[index]!.kind) {
    case 'order':
      return ofSales(
        'service_order_id',
        (await simulator.orders()).filter(({ external_order_id: name }) => references.has(name)),
      );
    case 'vpn_subscription':
      return ofSales(
        'service_subscription_id',
        (await simulator.subscriptions()).filter(({ external_subscription_id: name }) => references.has(name)),
      );
    case 'topup': {
      const others = new Set(
        (await Promise.all(world.ids.filter((other) => other !== id).map((other) => world.desk.attemptsOf(other))))
          .flat()
          .map(({ serviceId }) => serviceId),
      );
      const ofEsim = (await simulator.topups()).filter((each) =>
        attempts.some(({ serviceEsimId }) => serviceEsimId === each.esim_id),
      );
      return ofSales(
        'service_topup_id',
        ofEsim.filter((each) => !others.has(each.id)),
      );
    }
    case 'cancellation':
      return ofRefunds(await world.desk.refundsAtService(work[index]!.esim!));
  }

  /** `bought` for a sale, `not_bought` without a sale and with a balanced wallet, else no verdict. */
  async function ofSales(name: string, sales: readonly Sale[]): Promise<Truth> {
    const bought = sales.find(({ status }) => status !== 'failed');
    if (bought !== undefined) {
      // The verdict completes a top-up, so the service must have completed it.
      const isCertain = name !== 'service_topup_id' || bought.status === 'completed';
      return { verdicts: isCertain ? ['bought'] : [], names: { [name]: bought.id } };
    }
    const sold = new Set(sales.map((sale) => sale.id));
    const own = (await simulator.ledger()).filter(
      (line) => attempts.some((attempt) => isFor(attempt, line)) || (line.topup_id !== null && sold.has(line.topup_id)),
    );
    const net = own.filter(({ type }) => type === 'debit').length - own.filter(({ type }) => type === 'credit').length;
    return { verdicts: net === 0 ? ['not_bought'] : [], names: {} };
  }
}

function ofRefunds(refunds: Awaited<ReturnType<World['desk']['refundsAtService']>>): Truth {
  if (refunds.some(({ cancellation }) => cancellation === 'processing')) return { verdicts: [], names: {} };
  const refund = refunds.find(({ cancellation }) => cancellation === 'cancelled');
  if (refund === undefined) return { verdicts: ['not_bought'], names: {} };
  const ofMoney = { completed: ['refunded'], failed: ['dismissed'], processing: [] } as const;
  return { verdicts: [...ofMoney[refund.status], 'bought'], names: { service_refund_id: refund.id } };
}
