/** The objections of `422 purchase_not_possible`, with their texts. */
import type { FieldError } from '#api/problems/problem.ts';
import type { Money } from '#domain/money/money.ts';
import type { Listing } from '#upstream/client.ts';

export const NAMED = {
  packages: {
    field: 'package_id',
    noun: 'package',
    missing: 'is not the id of a package that is sold now; `GET /v1/packages` lists them',
  },
  plans: {
    field: 'vpn_plan_id',
    noun: 'VPN plan',
    missing: 'is not the id of a VPN plan that is sold now; `GET /v1/vpn/plans` lists them',
  },
  options: {
    field: 'package_id',
    noun: 'package',
    missing: 'is not a top-up option of this eSIM; `GET /v1/esims/{id}/topup-options` lists them',
  },
} as const;

export type OffersOf = keyof typeof NAMED;

export interface Offer {
  readonly id: number;
  readonly currency: string;
  readonly available: boolean;
}

export interface Wanted {
  readonly of: OffersOf;
  readonly id: number;
  readonly maxPrice: Money | undefined;
  readonly customerPrice?: Money | undefined;
  /** `report`: it is not bought, so the caller cannot ask to be held. */
  readonly ifUnavailable: 'refuse' | 'hold' | 'report';
}

interface Terms {
  readonly max_price?: Money | undefined;
  readonly customer_price?: Money | undefined;
  readonly if_unavailable: 'refuse' | 'hold';
}

export function wantedOf(of: OffersOf, id: number, terms: Terms): Wanted {
  const { max_price: maxPrice, customer_price: customerPrice, if_unavailable: ifUnavailable } = terms;
  return { of, id, maxPrice, customerPrice, ifUnavailable };
}

/** Only a complete list proves that it lacks an id. */
export function objections({ items, complete }: Listing<Offer>, wanted: Wanted): readonly FieldError[] {
  const { id, maxPrice, customerPrice, ifUnavailable } = wanted;
  const { field, noun, missing } = NAMED[wanted.of];
  const offer = items.find((each) => each.id === id);
  if (offer === undefined) return complete ? [{ in: 'body', field, message: missing }] : [];
  const errors: FieldError[] = [];
  if (!offer.available && ifUnavailable !== 'hold') {
    const hint = ifUnavailable === 'report' ? '' : '. With `if_unavailable: hold` the purchase waits until it is';
    const message = `names a ${noun} that is not sold now${hint}`;
    errors.push({ in: 'body', field, message });
  }
  for (const [name, amount] of [
    ['max_price', maxPrice],
    ['customer_price', customerPrice],
  ] as const) {
    if (amount === undefined || amount.currency === offer.currency) continue;
    const message = `must be ${offer.currency}, the currency of the price`;
    errors.push({ in: 'body', field: `${name}.currency`, message });
  }
  return errors;
}
