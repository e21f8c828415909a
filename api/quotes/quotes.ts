import * as z from 'zod';
import { lacking } from '#api/access/authentication.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { requireEsim } from '#api/esims/delivered-esim.ts';
import {
  ageOf,
  failureClass,
  freshness,
  idInput,
  instant,
  money,
  moneyInput,
  ourId,
  packageId,
  usd,
} from '#api/fields/fields.ts';
import { type Caller, jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import type { Offers } from '#api/offers/offers.ts';
import {
  listedPrice,
  pricedPackage,
  pricedPlan,
  suggestedPriceField,
  suggestedPriceJson,
} from '#api/pricing/suggested-price.ts';
import { invalid } from '#api/problems/problem.ts';
import { objections, type Offer, type OffersOf } from '#api/problems/purchase-not-possible.ts';
import { type QuotedItem, quoteToken } from '#api/quotes/quote-token.ts';
import { vpnPlanId } from '#api/vpn/vpn-plans.ts';
import { scopesOfKind } from '#db/access/api-keys.ts';
import { plainMoney } from '#domain/money/money.ts';
import type { PricedItem } from '#domain/pricing/pricing-rule.ts';
import { isWithin } from '#domain/purchase/send-claim.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { type ForeseenHold, foreseenHolds } from '#fulfilment/gate/overview.ts';
import { rulesInForce } from '#fulfilment/pricing/pricing-rules.ts';
import type { ReadAt } from '#upstream/cached-read.ts';
import type { Listing } from '#upstream/client.ts';

export const QUOTE_VALID_MS = 15 * 60_000;

const quoteInput = z
  .strictObject({
    package_id: packageId.optional().meta({ description: 'The package of an order or a top-up.', example: 1001 }),
    esim_id: idInput('esim').optional().meta({ description: 'With `package_id`: the eSIM of a top-up.' }),
    vpn_plan_id: vpnPlanId.optional().meta({ description: 'The plan of a VPN subscription.' }),
    max_price: moneyInput.optional().meta({ description: 'The limit that the purchase would have.' }),
  })
  .meta({ id: 'QuoteInput' });

export const quoteOutput = z
  .strictObject({
    id: z
      .string()
      .nullable()
      .meta({
        description:
          'Pass it as `quote_id` of the purchase: the price of the quote is then its `max_price`. Null when it ' +
          'cannot be bought, or costs more than the given `max_price`.',
        example: 'quo_AQRkZXYx…',
      }),
    kind: z
      .enum(['order', 'topup', 'vpn_subscription'])
      .meta({ description: 'The purchase: an order, a top-up, or a VPN subscription.' }),
    package_id: packageId.nullable(),
    esim_id: ourId('esim').nullable(),
    vpn_plan_id: vpnPlanId.nullable(),
    name: z.string().nullable().meta({ description: 'The package or plan; null when it is unknown.' }),
    available: z.boolean().meta({ description: 'The service sells it now.' }),
    price: money.nullable().meta({ description: 'What the service charges the reseller now.' }),
    suggested_price: suggestedPriceField,
    objections: z
      .array(z.strictObject({ field: z.string(), message: z.string() }))
      .meta({ description: 'Why the purchase would be refused with 422 `purchase_not_possible`: all reasons.' }),
    holds: z
      .array(
        z.strictObject({
          failure_class: failureClass,
          meaning: z.string(),
          detail: z
            .string()
            .nullable()
            .meta({ description: 'A sentence about this purchase, if there is more to say.' }),
        }),
      )
      .meta({
        description:
          'Why the purchase would be accepted and then held: the known reasons. Empty for a key that may not buy it.',
      }),
    expires_at: instant.nullable().meta({ description: 'Until when `id` can be used.' }),
    ...freshness,
  })
  .meta({
    id: 'Quote',
    example: {
      id: 'quo_AQRkZXYxvT0kz2m1',
      package_id: 101,
      name: 'Europe 5 GB',
      available: true,
      price: usd('9.80'),
      objections: [],
      holds: [],
      expires_at: '2030-01-31T12:15:00.000Z',
    },
    description: 'What would happen with a purchase now. Nothing is bought, stored or reserved.',
  });

interface Priced extends Offer {
  readonly name: string;
  readonly price_for_reseller: string;
}

export function quoteOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  const { database, gate: policy, keyRing, now } = dependencies;
  return [
    operation('POST /v1/quotes', {
      id: 'createQuote',
      summary: 'Ask what an order, top-up or VPN subscription would cost now',
      description:
        'Shows the price, your suggested price, and the known reasons for which the purchase would be refused or ' +
        'held. Nothing is bought, stored or reserved, so no Idempotency-Key is needed, and the state may change ' +
        'until the purchase. With the `id` of the quote as `quote_id`, the quoted price is the `max_price` of the ' +
        'purchase. `esim_id` needs the scope `esims:read`.',
      scope: 'packages:read',
      body: quoteInput,
      bodyExample: { package_id: 1001 },
      bodyRequired: true,
      answers: { 200: jsonAnswer('The quote.', quoteOutput) },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ body, caller }) => {
        const { item, objecting, offer, priced, readAt } = await subjectOf(dependencies, offers, body, caller);
        const price = offer === undefined ? null : { amount: offer.price_for_reseller, currency: offer.currency };
        const { max_price: limit } = body;
        const isAboveLimit = price !== null && limit?.currency === price.currency && !isWithin(limit, price);
        // The gate's state concerns the whole account: a key that cannot buy this does not see it.
        const mayBuy = caller.scopes.includes(scopesOfKind(item.kind).write);
        const seesAll = caller.ownerId === undefined;
        const purchase = { kind: item.kind, product: item.itemId, apiKeyId: caller.lineageId, seesAll };
        const foreseen =
          price === null || !mayBuy
            ? []
            : await database.run((db) => foreseenHolds(db, { ...purchase, price }, { policy, now: now() }));
        const holds: ForeseenHold[] = [
          ...foreseen,
          ...(isAboveLimit ? [{ failure: 'price_above_limit' } as const] : []),
        ];
        const expiresAt = now() + QUOTE_VALID_MS;
        const isBuyable = price !== null && objecting.length === 0 && !isAboveLimit;
        return jsonReply(200, {
          id: isBuyable ? quoteToken(keyRing, item, price, expiresAt) : null,
          kind: item.kind,
          package_id: body.package_id ?? null,
          esim_id: body.esim_id ?? null,
          vpn_plan_id: body.vpn_plan_id ?? null,
          name: offer?.name ?? null,
          available: offer?.available ?? false,
          price: price && plainMoney(price.amount, price.currency),
          suggested_price: priced === undefined ? null : suggestedPriceJson(priced, await database.run(rulesInForce)),
          objections: objecting.map(({ field, message }) => ({ field, message })),
          holds: holds.map(({ failure, detail = null }) => ({
            failure_class: failure,
            meaning: FAILURE_CLASSES[failure].meaning,
            detail,
          })),
          expires_at: isBuyable ? new Date(expiresAt).toISOString() : null,
          ...ageOf(readAt, now()),
        });
      },
    }),
  ];
}

/** What is asked for, with its offer and price; both are undefined when the service does not list it. */
async function subjectOf(
  { database }: ApiDependencies,
  offers: Offers,
  body: z.output<typeof quoteInput>,
  { lineageId, ownerId, scopes }: Caller,
) {
  const { package_id: packageId, vpn_plan_id: planId, esim_id: esimId, max_price: maxPrice } = body;
  const about = <Item extends Priced>(
    { value, readAt }: ReadAt<Listing<Item>>,
    of: OffersOf,
    item: QuotedItem,
    pricedItem: (offer: Item) => PricedItem,
  ) => {
    const offer = value.items.find(({ id }) => id === item.itemId);
    const wanted = { of, id: item.itemId, maxPrice, ifUnavailable: 'report' } as const;
    // A list that may be incomplete proves no absence, but a quote needs a price.
    const objecting = objections({ ...value, complete: true }, wanted);
    return { item, objecting, offer, priced: offer && pricedItem(offer), readAt };
  };
  if (planId !== undefined) {
    if (packageId !== undefined || esimId !== undefined)
      throw misfit('must not be given with other ids', 'vpn_plan_id');
    const item = { lineageId, kind: 'vpn_subscription', itemId: planId, esimId: undefined } as const;
    return about(await offers.plans.get(), 'plans', item, (plan) => pricedPlan(listedPrice(plan)));
  }
  if (packageId === undefined) throw misfit('is required, unless `vpn_plan_id` is given', 'package_id');
  if (esimId === undefined) {
    const item = { lineageId, kind: 'order', itemId: packageId, esimId } as const;
    return about(await offers.packages.get(), 'packages', item, (each) => pricedPackage(listedPrice(each)));
  }
  if (!scopes.includes('esims:read')) throw lacking('esims:read');
  const { serviceEsimId } = await database.run((db) => requireEsim(db, esimId, ownerId));
  const options = await offers.topupOptions(serviceEsimId).get();
  const item = { lineageId, kind: 'topup', itemId: packageId, esimId } as const;
  return about(options, 'options', item, (each) => pricedPackage(listedPrice(each)));
}

function misfit(message: string, field: string) {
  return invalid([{ in: 'body', field, message }]);
}
