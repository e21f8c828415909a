/** The records of the foreign service with plain names, as its behaviour shows them. */
import type { Behaviour } from '#test/foreign/service/behaviour.ts';
import type { Books, Esim, Package, Refund, Row, Sale } from '#test/foreign/service/books.ts';
import { CURRENCY, type Plain } from '#test/foreign/service/present.ts';

/** Where a record is shown. */
export type Place = 'answer' | 'read' | 'list' | 'event';

/** The times that a record shows are those of the service's clock. */
export class Records {
  readonly #books: Books;
  readonly #behaviour: Behaviour;
  readonly #now: () => number;

  constructor(books: Books, behaviour: Behaviour, now: () => number) {
    this.#books = books;
    this.#behaviour = behaviour;
    this.#now = now;
  }

  package({ id, name, cents }: Package): Plain {
    return {
      id,
      name,
      countries: ['ES', 'PT'],
      data_mb: 1_024,
      validity_days: 30,
      price_for_reseller: cents,
      currency: CURRENCY,
      available: true,
    };
  }

  plan({ id, name, cents }: Package): Plain {
    return { id, name, duration_days: 30, price_for_reseller: cents, currency: CURRENCY, available: true };
  }

  sale(sale: Sale, place: Place): Plain {
    if (sale.kind === 'topup') return this.#topup(sale);
    return sale.kind === 'order' ? this.#order(sale, place) : this.#subscription(sale, place);
  }

  #order(sale: Sale, place: Place): Plain {
    const isFilled = !this.#isUnfilled(sale, 'ids_later');
    const esimId = isFilled ? sale.esimId : sale.status === 'completed' ? this.#behaviour.unfilled : null;
    return {
      id: sale.id,
      external_order_id: sale.reference,
      package_id: sale.product.id,
      status: sale.status,
      ...(this.#isShown(place) ? { esim_id: esimId } : {}),
      ...this.#priceAndFailure(sale),
      created_at: this.#shownTime(sale.at),
    };
  }

  #topup(sale: Sale): Plain {
    return {
      id: sale.id,
      esim_id: sale.esimId,
      package_id: sale.product.id,
      status: sale.status,
      ...this.#priceAndFailure(sale),
      created_at: this.#shownTime(sale.at),
    };
  }

  #subscription(sale: Sale, place: Place): Plain {
    const { cancelledAt, completedAt } = sale;
    const status = cancelledAt !== undefined ? 'cancelled' : sale.status === 'completed' ? 'active' : sale.status;
    const isFilled = sale.status === 'completed' && !this.#isUnfilled(sale, 'access_later');
    const number = sale.id.slice(-6);
    const access = { username: `tunnel-${number}`, password: `pw-${number}`, server: 'a.foreign.example' };
    return {
      id: sale.id,
      external_subscription_id: sale.reference,
      vpn_plan_id: sale.product.id,
      status,
      ...this.#priceAndFailure(sale),
      ...(this.#isShown(place) ? { access: isFilled ? access : null } : {}),
      started_at: completedAt === undefined ? null : this.#shownTime(completedAt),
      expires_at: completedAt === undefined ? null : this.#shownTime(completedAt + 30 * DAY_MS),
      cancelled_at: cancelledAt === undefined ? null : this.#shownTime(cancelledAt),
    };
  }

  #priceAndFailure({ product, status }: Sale): Plain {
    const failure = { code: 'supplier_error', message: 'The supplier has no stock.' };
    return { price_for_reseller: product.cents, currency: CURRENCY, failure: status === 'failed' ? failure : null };
  }

  esim(esim: Esim): Plain {
    const { delivery, unfilled } = this.#behaviour;
    const sale = this.#books.sales.find(({ id }) => id === esim.orderId);
    const isEarly = sale !== undefined && this.#isUnfilled(sale, 'codes_later');
    const isOff = isOurs(sale);
    return {
      id: esim.id,
      order_id: delivery === 'other_order' && isOff ? (this.#books.sales[0]?.id ?? null) : esim.orderId,
      iccid: isEarly ? unfilled : esim.iccid,
      activation_code: isEarly ? unfilled : delivery === 'garbled' && isOff ? 'see the e-mail' : esim.code,
      status: esim.status,
      installed_at: null,
      activated_at: null,
      expires_at: null,
    };
  }

  usage(esim: Esim): Plain {
    return { esim_id: esim.id, data_used_mb: 0, data_total_mb: 1_024, measured_at: this.#shownTime(this.#now()) };
  }

  cancellation(esim: Esim, refund: Refund): Plain {
    return { esim_id: esim.id, status: 'cancelled', refund: this.refund(refund) };
  }

  refund({ id, esimId, orderId, cents, at, status }: Refund): Plain {
    return {
      id,
      esim_id: esimId,
      order_id: orderId,
      status,
      review: 'accepted',
      amount: cents,
      currency: CURRENCY,
      unmet_conditions: [],
      created_at: this.#shownTime(at),
    };
  }

  row({ id, type, cents, reason, at, sale, refund, pending }: Row): Plain {
    const named = (kind: Sale['kind']) => (sale?.kind === kind ? sale : undefined);
    return {
      id,
      type,
      amount: cents * this.#walletFactor,
      currency: CURRENCY,
      reason,
      order_id: named('order')?.id ?? null,
      external_order_id: named('order')?.reference ?? null,
      esim_id: sale?.esimId ?? null,
      topup_id: named('topup')?.id ?? null,
      vpn_subscription_id: named('subscription')?.id ?? null,
      external_subscription_id: named('subscription')?.reference ?? null,
      refund_id: refund?.id ?? null,
      status: pending === true ? 'pending' : 'completed',
      created_at: this.#shownTime(at),
    };
  }

  wallet(): Plain {
    return { balance: this.#books.balance * this.#walletFactor, currency: CURRENCY };
  }

  get #walletFactor(): number {
    return this.#behaviour.wallet.inCents === true ? 100 : 1;
  }

  update(): Plain {
    return { latest_version: '3.1', update_available: false, channel: 'stable' };
  }

  #isShown(place: Place): boolean {
    const { facts } = this.#behaviour;
    return facts === 'everywhere' || facts === `${place}_only`;
  }

  #isUnfilled(sale: Sale, part: Behaviour['delivery']): boolean {
    const { delivery, fillMs } = this.#behaviour;
    return delivery === part && isOurs(sale) && this.#now() < (sale.completedAt ?? 0) + fillMs;
  }

  #shownTime(ms: number): number {
    return ms + (this.#behaviour.wallet.clockMs ?? 0);
  }
}

/** The earlier purchases are whole. */
function isOurs(sale: Sale | undefined): boolean {
  return sale !== undefined && !sale.key.startsWith('earlier-');
}

const DAY_MS = 24 * 3_600_000;
