/** The true state of work at the service, as its console and wallet show it to an operator. */
import type { CaseVerdict } from '#domain/operator/operator-actions.ts';
import type { Model, World } from '#test/fault/model/world.ts';
import { isFor, netDebits } from '#test/support/work/books/differences.ts';

interface Truth {
  /** The true verdicts, best first; empty while undecided. */
  readonly verdicts: readonly CaseVerdict[];
  /** With `bought`, the service's id in the API's field. */
  readonly names: Readonly<Record<string, string>>;
}

export async function truthOf(world: World, { work }: Model, index: number): Promise<Truth> {
  const { simulator } = world.desk;
  const id = world.ids[index]!;
  const attempts = await world.desk.attemptsOf(id);
  const references = new Set(attempts.map(({ reference }) => reference));
  switch (work[index]!.kind) {
    case 'order': {
      const own = (await simulator.orders()).filter(({ external_order_id: name }) => references.has(name));
      return ofSales('service_order_id', own);
    }
    case 'vpn_subscription': {
      const all = await simulator.subscriptions();
      const own = all.filter(({ external_subscription_id: name }) => references.has(name));
      return ofSales('service_subscription_id', own);
    }
    case 'topup': {
      const others = new Set(
        (await Promise.all(world.ids.filter((other) => other !== id).map((other) => world.desk.attemptsOf(other))))
          .flat()
          .map(({ serviceId }) => serviceId),
      );
      const own = (await simulator.topups()).filter(
        (each) => attempts.some(({ serviceEsimId }) => serviceEsimId === each.esim_id) && !others.has(each.id),
      );
      return ofSales('service_topup_id', own);
    }
    case 'cancellation':
      return ofRefunds(await world.desk.refundsAtService(work[index]!.esim!));
  }

  /** `bought` for a sale, `not_bought` without a sale and with a balanced wallet, else no verdict. */
  async function ofSales(name: string, sales: readonly { id: string; status: string }[]): Promise<Truth> {
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
    return { verdicts: netDebits(own) === 0 ? ['not_bought'] : [], names: {} };
  }
}

function ofRefunds(refunds: Awaited<ReturnType<World['desk']['refundsAtService']>>): Truth {
  if (refunds.some(({ cancellation }) => cancellation === 'processing')) return { verdicts: [], names: {} };
  const refund = refunds.find(({ cancellation }) => cancellation === 'cancelled');
  if (refund === undefined) return { verdicts: ['not_bought'], names: {} };
  const ofMoney = { completed: ['refunded'], failed: ['dismissed'], processing: [] } as const;
  return { verdicts: [...ofMoney[refund.status], 'bought'], names: { service_refund_id: refund.id } };
}
