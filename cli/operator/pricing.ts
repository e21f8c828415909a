import type { ApiOptions } from '#cli/api/api-access.ts';
import { apiClient } from '#cli/api/api-client.ts';
import { type Output, printLine } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { NewPricingRule, PricingRule, PricingTermsInput } from '#clients/typescript/src/index.ts';
import type { Environment } from '#config/environment.ts';

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

type Target = NewPricingRule['target'];

export async function setRule(
  options: SetOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  const { currency, reason } = options;
  const target = targetOf(options);
  const terms = termsOf(options);
  const api = apiClient(options, environment);
  const rules = await api.all<PricingRule>(PATH, { target: target.kind, currency });
  const known = rules.find((each) => nameOf(each.target) === nameOf(target));
  const stored = await api.call<PricingRule>(
    known === undefined
      ? { path: PATH, body: { target, currency, terms, reason }, keyed: true }
      : { path: `${PATH}/${known.id}`, method: 'PATCH', body: { terms, reason, version: known.version } },
  );
  printLine(output, `${known === undefined ? 'Created' : 'Changed'}: ${lineOf(stored)}`);
}

export async function endRule(
  id: string,
  { reason, ...options }: ApiOptions & { readonly reason: string },
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  const path = `${PATH}/${encodeURIComponent(id)}`;
  const ended = await apiClient(options, environment).call<PricingRule>({ path, method: 'DELETE', query: { reason } });
  printLine(output, `${ended.id}  ended at ${ended.ended_at}`);
}

function targetOf({ default: isDefault, country, package: packageId, vpnPlan }: SetOptions): Target {
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
function markupOf(text = '0'): PricingTermsInput['margin'] {
  const [, percent, amount] = /^(?:([\d.]+)%)?\+?(?:([\d.]+))?$/.exec(text.replaceAll(' ', '')) ?? [];
  if (percent === undefined && amount === undefined) {
    throw new UserError(`${JSON.stringify(text)} is not a margin.`, 'Write it as 35%, 0.50 or 35%+0.50.');
  }
  return { percent: percent ?? '0', amount: amount ?? '0' };
}

function lineOf({ id, target, currency, terms, version }: PricingRule): string {
  return `${id}  ${nameOf(target)} in ${currency}, version ${version}: ${termsText(terms)}`;
}

function nameOf(target: Target | PricingRule['target']): string {
  const { kind, ...of } = target;
  return [kind, ...Object.values(of).map(String)].join(' ');
}

function termsText({ margin, minimum_margin, minimum_price, rounding, ...terms }: PricingRule['terms']): string {
  return [
    `margin ${markupText(margin)}`,
    `at least ${markupText(minimum_margin)}`,
    ...(minimum_price === null ? [] : [`price at least ${minimum_price}`]),
    ...(rounding === null
      ? []
      : [`rounded ${rounding.direction} to a multiple of ${rounding.step} plus ${rounding.ending}`]),
    `drift ${terms.max_price_drift_percent} %`,
  ].join(', ');
}

function markupText({ percent, amount }: PricingRule['terms']['margin']): string {
  return `${percent}% + ${amount}`;
}
