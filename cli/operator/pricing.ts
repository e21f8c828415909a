import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { ApiCommands } from '#cli/api/api-client.ts';
import { UserError } from '#cli/terminal/user-error.ts';

export interface SetOptions extends ApiOptions {
  readonly default?: boolean;
  readonly country?: string;
  readonly package?: string;
  readonly vpnPlan?: string;
  readonly currency: string;
  readonly margin?: string;
  readonly minimumMargin?: string;
  readonly minimumPrice?: string;
  readonly step?: string;
  readonly ending?: string;
  readonly nearest?: boolean;
  readonly maxPriceDrift: string;
  readonly reason: string;
}

const PATH = '/v1/pricing/rules';

const markup = z.object({ percent: z.string(), amount: z.string() });
const terms = z.object({
  margin: markup,
  minimum_margin: markup,
  minimum_price: z.string().nullable(),
  rounding: z.object({ step: z.string(), ending: z.string(), direction: z.string() }).nullable(),
  max_price_drift_percent: z.string(),
});
const target = z.object({
  kind: z.string(),
  country: z.string().optional(),
  package_id: z.int().optional(),
  vpn_plan_id: z.int().optional(),
});
const rule = z.object({
  id: z.string(),
  target,
  currency: z.string(),
  terms,
  version: z.int(),
  ended_at: z.string().nullable(),
});
type Rule = z.output<typeof rule>;

export class PricingCommands extends ApiCommands {
  async set(options: SetOptions): Promise<void> {
    const wanted = { target: targetOf(options), currency: options.currency, terms: termsOf(options) };
    const api = this.api(options);
    const rules = await api.all(PATH, { target: wanted.target.kind, currency: options.currency }, rule);
    const known = rules.find((each) => nameOf(each.target) === nameOf(wanted.target));
    const stored =
      known === undefined
        ? await api.call({
            path: PATH,
            body: { ...wanted, reason: options.reason },
            idempotencyKey: randomUUID(),
            answer: rule,
          })
        : await api.call({
            path: `${PATH}/${known.id}`,
            method: 'PATCH',
            body: { terms: wanted.terms, reason: options.reason, version: known.version },
            answer: rule,
          });
    this.say(`${known === undefined ? 'Created' : 'Changed'}: ${lineOf(stored)}`);
  }

  async end(id: string, { reason, ...options }: ApiOptions & { readonly reason: string }): Promise<void> {
    const ended = await this.api(options).call({
      path: `${PATH}/${encodeURIComponent(id)}?${new URLSearchParams({ reason }).toString()}`,
      method: 'DELETE',
      answer: rule,
    });
    this.say(`${ended.id}  ended at ${ended.ended_at}`);
  }
}

function targetOf({ default: isDefault, country, package: packageId, vpnPlan }: SetOptions): z.output<typeof target> {
  if (country !== undefined) return { kind: 'country', country };
  if (packageId !== undefined) return { kind: 'package', package_id: idOf(packageId) };
  if (vpnPlan !== undefined) return { kind: 'vpn_plan', vpn_plan_id: idOf(vpnPlan) };
  if (isDefault === true) return { kind: 'default' };
  throw new UserError('The rule has no target.', 'Add --default, --country, --package or --vpn-plan.');
}

function idOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UserError(`${JSON.stringify(text)} is not an id.`, 'Use a number from the package list.');
}

function termsOf({ margin, minimumMargin, minimumPrice, step, ending, nearest, maxPriceDrift }: SetOptions) {
  if (step === undefined && (ending !== undefined || nearest === true)) {
    throw new UserError('--ending and --nearest need --step.', 'Add --step, such as --step 1 --ending 0.99.');
  }
  return {
    margin: markupOf(margin),
    minimum_margin: markupOf(minimumMargin),
    minimum_price: minimumPrice ?? null,
    rounding:
      step === undefined ? null : { step, ending: ending ?? '0', direction: nearest === true ? 'nearest' : 'up' },
    max_price_drift_percent: maxPriceDrift.replace(/%$/, ''),
  };
}

/** `35%`, `0.50` or `35%+0.50`. */
function markupOf(text = '0'): z.output<typeof markup> {
  const [, percent, amount] = /^(?:([\d.]+)%)?\+?(?:([\d.]+))?$/.exec(text.replaceAll(' ', '')) ?? [];
  if (percent === undefined && amount === undefined) {
    throw new UserError(`${JSON.stringify(text)} is not a margin.`, 'Write it as 35%, 0.50 or 35%+0.50.');
  }
  return { percent: percent ?? '0', amount: amount ?? '0' };
}

function lineOf({ id, target: of, currency, terms: its, version: number }: Rule): string {
  return `${id}  ${nameOf(of)} in ${currency}, version ${number}: ${termsText(its)}`;
}

function nameOf({ kind, country, package_id: packageId, vpn_plan_id: planId }: z.output<typeof target>): string {
  return [kind, country ?? packageId ?? planId].filter((part) => part !== undefined).join(' ');
}

function termsText({
  margin,
  minimum_margin: least,
  minimum_price: price,
  rounding,
  max_price_drift_percent: drift,
}: z.output<typeof terms>): string {
  return [
    `margin ${markupText(margin)}`,
    `at least ${markupText(least)}`,
    ...(price === null ? [] : [`price at least ${price}`]),
    ...(rounding === null
      ? []
      : [`rounded ${rounding.direction} to a multiple of ${rounding.step} plus ${rounding.ending}`]),
    `drift ${drift} %`,
  ].join(', ');
}

function markupText({ percent, amount }: z.output<typeof markup>): string {
  return `${percent}% + ${amount}`;
}
