import type * as z from 'zod';
import { lacking } from '#api/access/authentication.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { requireEsim } from '#api/esims/require-esim.ts';
import { ageOf } from '#api/fields/freshness.ts';
import { type Caller, invalid, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { objections, type Offer, type Offers, type Wanted } from '#api/offers/offers.ts';
import { listedPrice, pricedPackage, pricedPlan, suggestedPriceJson } from '#api/pricing/suggested-price.ts';
import type { FieldError } from '#api/problems/problem.ts';
import { QUOTE_VALID_MS, quoteExample, quoteInput, quoteInputExample, quoteOutput } from '#api/quotes/quote-schemas.ts';
import { type QuotedItem, quoteToken } from '#api/quotes/quote-token.ts';
import { scopesOfKind } from '#db/access/api-keys.ts';
import { rulesInForce } from '#db/money/pricing-rules.ts';
import { plainMoney } from '#domain/money/money.ts';
import type { PricedItem } from '#domain/pricing/pricing-rule.ts';
import { isWithin } from '#domain/purchase/send-claim.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { foreseenHolds, type ForeseenHold } from '#fulfilment/gate/foreseen-holds.ts';
import type { ReadAt } from '#upstream/cached-read.ts';
import type { Listing } from '#upstream/client.ts';

/** An offer with its name and price. */
interface Priced extends Offer {
  readonly name: string;
  readonly price_for_reseller: string;
}

/** What a quote is about, and the offers that contain it. */
interface Subject {
  readonly item: QuotedItem;
  readonly wanted: Wanted;
  readonly offers: ReadAt<Listing<Priced>>;
  /** The offer as the pricing rules take it; undefined: not listed. */
  readonly priced: PricedItem | undefined;
}

/** Quotes: what a purchase would cost, and what would happen with it. */
export function quoteOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  const { database, keyRing, now, spendLimit } = dependencies;
  return [
    operation({
      id: 'createQuote',
      method: 'post',
      path: '/v1/quotes',
      tag: 'Packages',
      summary: 'Ask what an order, top-up or VPN subscription would cost now',
      description:
        'Shows the price, your suggested price, and the known reasons for which the purchase would be refused or ' +
        'held. Nothing is bought, stored or reserved, so no Idempotency-Key is needed, and the state may change ' +
        'until the purchase. With the `id` of the quote as `quote_id`, the quoted price is the `max_price` of the ' +
        'purchase. `esim_id` needs the scope `esims:read`.',
      scope: 'packages:read',
      body: quoteInput,
      bodyExample: quoteInputExample,
      bodyRequired: true,
      answers: {
        200: { description: 'The quote.', contentType: 'application/json', schema: quoteOutput, example: quoteExample },
      },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ body, caller }) => {
        const { item, wanted, priced, offers: listed } = await subjectOf(dependencies, offers, body, caller);
        const { value, readAt } = listed;
        const offer = value.items.find(({ id }) => id === item.itemId);
        const price = offer === undefined ? null : { amount: offer.price_for_reseller, currency: offer.currency };
        const objecting = objectionsOf(value, wanted);
        const { max_price: limit } = body;
        const isAboveLimit = price !== null && limit?.currency === price.currency && !isWithin(limit, price);
        // The gate's state concerns the whole account: a key that cannot buy this does not see it.
        const mayBuy = caller.scopes.includes(scopesOfKind(item.kind).write);
        const seesAll = caller.ownerId === undefined;
        const purchase = { kind: item.kind, product: item.itemId, apiKeyId: caller.lineageId, seesAll };
        const foreseen =
          price === null || !mayBuy
            ? []
            : await database.run((db) => foreseenHolds(db, { ...purchase, price }, { spendLimit, now: now() }));
        const holds = [...foreseen, ...(isAboveLimit ? [{ failure: 'price_above_limit' } as const] : [])];
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
          holds: holds.map(holdJson),
          expires_at: isBuyable ? new Date(expiresAt).toISOString() : null,
          ...ageOf(readAt, now()),
        });
      },
    }),
  ];
}

function holdJson({ failure, detail }: ForeseenHold) {
  return { failure_class: failure, meaning: FAILURE_CLASSES[failure].meaning, detail: detail ?? null };
}

/** A list that is not known to be complete proves no absence, but a quote needs a price. */
function objectionsOf(list: Listing<Offer>, wanted: Wanted): readonly FieldError[] {
  return objections({ ...list, complete: true }, wanted);
}

type QuoteBody = z.output<typeof quoteInput>;

async function subjectOf(
  { database }: ApiDependencies,
  offers: Offers,
  body: QuoteBody,
  { lineageId, ownerId, scopes }: Caller,
): Promise<Subject> {
  const { package_id: packageId, vpn_plan_id: planId, esim_id: esimId, max_price: maxPrice } = body;
  const common = { maxPrice, ifUnavailable: 'report' } as const;
  if (planId !== undefined) {
    if (packageId !== undefined || esimId !== undefined)
      throw misfit('must not be given with other ids', 'vpn_plan_id');
    const plans = await offers.plans.get();
    return {
      item: { lineageId, kind: 'vpn_subscription', itemId: planId, esimId: undefined },
      wanted: { ...common, of: 'plans', id: planId },
      offers: plans,
      priced: mapped(plans, planId, (plan) => pricedPlan(listedPrice(plan))),
    };
  }
  if (packageId === undefined) throw misfit('is required, unless `vpn_plan_id` is given', 'package_id');
  const wanted = { ...common, id: packageId } as const;
  if (esimId === undefined) {
    const packages = await offers.packages.get();
    return {
      item: { lineageId, kind: 'order', itemId: packageId, esimId: undefined },
      wanted: { ...wanted, of: 'packages' },
      offers: packages,
      priced: mapped(packages, packageId, (each) => pricedPackage(listedPrice(each))),
    };
  }
  if (!scopes.includes('esims:read')) throw lacking('esims:read');
  const { serviceEsimId } = await database.run((db) => requireEsim(db, esimId, ownerId));
  const options = await offers.topupOptions(serviceEsimId).get();
  return {
    item: { lineageId, kind: 'topup', itemId: packageId, esimId },
    wanted: { ...wanted, of: 'options' },
    offers: options,
    priced: mapped(options, packageId, (each) => pricedPackage(listedPrice(each))),
  };
}

function mapped<Item extends Offer>(
  { value }: ReadAt<Listing<Item>>,
  id: number,
  priced: (item: Item) => PricedItem,
): PricedItem | undefined {
  const found = value.items.find((each) => each.id === id);
  return found && priced(found);
}

function misfit(message: string, field: string) {
  return invalid([{ in: 'body', field, message }]);
}
