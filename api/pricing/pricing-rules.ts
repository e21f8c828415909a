import * as z from 'zod';
import type { StoredCatalogue } from '#api/catalogue/stored-catalogue.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { actionReason, currency, idInPath, MAX_INTEGER, queryInteger, wholeNumber } from '#api/fields/fields.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { flagInQuery, pageOf, pageQuery, pageReply } from '#api/lists/lists.ts';
import {
  pricingRuleInput,
  pricingRuleJson,
  pricingRuleOutput,
  pricingRuleVersion,
  pricingRuleVersionJson,
  pricingTermsInput,
  ruleFrom,
  termsErrors,
  termsFrom,
} from '#api/pricing/pricing-rule-schemas.ts';
import { whatIfOperation } from '#api/pricing/what-if.ts';
import { invalid, Problem, requireFound } from '#api/problems/problem.ts';
import { ruleName, PRICING_TARGET_KINDS } from '#domain/pricing/pricing-rule.ts';
import {
  addPricingRule,
  changePricingRule,
  findPricingRule,
  listPricingRules,
  listRuleVersions,
  type PricingActor,
  type PricingRuleChange,
} from '#fulfilment/pricing/pricing-rules.ts';

const PATH = '/v1/pricing/rules';
const params = idInPath('pricingRule');
const reason = actionReason.meta({
  description: 'The reason; shown with the versions of the rule.',
  example: 'Prices of the spring.',
});
const version = wholeNumber(1, MAX_INTEGER).optional().meta({
  description: 'The version that you have read. If the rule has another version now, nothing is changed (409).',
  example: 1,
});

const versionInQuery = queryInteger(1, MAX_INTEGER)
  .optional()
  .meta({ description: version.meta()?.description ?? '' });

const ruleAnswer = (description: string) => jsonAnswer(description, pricingRuleOutput);

export function pricingOperations(dependencies: ApiDependencies, catalogue: StoredCatalogue): Operation[] {
  const { database, now } = dependencies;
  const find = async (id: string) =>
    requireFound(await database.run((db) => findPricingRule(db, id)), 'pricing_rule_not_found');
  const change = async (id: string, what: PricingRuleChange, by: PricingActor) => {
    const outcome = await database.transaction((tx) => changePricingRule(tx, id, what, by, new Date(now())));
    if (outcome.kind === 'not_found') throw new Problem('pricing_rule_not_found');
    const { rule } = outcome;
    if (outcome.kind === 'done') return jsonReply(200, pricingRuleJson(rule));
    const detail =
      rule.endedAt === null ? `It is in version ${rule.version}.` : `It ended at ${rule.endedAt.toISOString()}.`;
    throw new Problem('pricing_rule_changed', { detail });
  };
  return [
    operation(`GET ${PATH}`, {
      id: 'listPricingRules',
      summary: 'List pricing rules, newest first',
      scope: 'pricing:read',
      query: z.strictObject({
        target: z.enum(PRICING_TARGET_KINDS).optional().meta({ description: 'Only rules for this kind of target.' }),
        currency: currency.optional(),
        ended: flagInQuery('`true`: also ended rules.'),
        ...pageQuery,
      }),
      answers: { 200: jsonAnswer('A page of rules.', pageOf(pricingRuleOutput, 'PricingRulePage')) },
      handle: async ({ query }) => {
        const { target: targetKind, currency: code, ended: includeEnded = false } = query;
        const filter = { targetKind, currency: code, includeEnded };
        return pageReply(
          query,
          CURSORS.pricingRule,
          (at) => database.run((db) => listPricingRules(db, filter, at)),
          pricingRuleJson,
        );
      },
    }),
    operation(`POST ${PATH}`, {
      id: 'createPricingRule',
      summary: 'Create a pricing rule',
      description:
        'For one package, country or VPN plan, or as the default, in one currency. A second rule with the same ' +
        'target and currency is refused (409). Suggestions use the rule at once.',
      scope: 'pricing:write',
      idempotent: true,
      body: z.strictObject({ ...pricingRuleInput.shape, reason }).meta({ id: 'NewPricingRule' }),
      answers: { 201: { ...ruleAnswer('The rule.'), headers: { Location: 'Address of the rule.' } } },
      problems: ['pricing_rule_exists'],
      handle: async (request) => {
        const { body, caller } = request;
        const rule = ruleFrom(body);
        const errors = termsErrors(rule.terms, 'terms');
        if (errors.length > 0) throw invalid(errors);
        const by = { actor: caller.apiKeyId, reason: body.reason };
        return answerOnce(dependencies, request, async (tx) => {
          const { rule: stored, isNew } = await addPricingRule(tx, rule, by, new Date(now()));
          const href = `${PATH}/${stored.id}`;
          if (isNew) return jsonReply(201, pricingRuleJson(stored), { Location: href });
          throw new Problem('pricing_rule_exists', {
            detail: `${stored.id} is in force for ${ruleName(rule)}.`,
            extra: { existing: { id: stored.id, href } },
          });
        });
      },
    }),
    whatIfOperation(dependencies, catalogue),
    operation(`GET ${PATH}/{id}`, {
      id: 'getPricingRule',
      summary: 'Read a pricing rule',
      scope: 'pricing:read',
      params,
      answers: { 200: ruleAnswer('The rule.') },
      handle: async ({ params: { id } }) => jsonReply(200, pricingRuleJson(await find(id))),
    }),
    operation(`GET ${PATH}/{id}/versions`, {
      id: 'listPricingRuleVersions',
      summary: 'List the versions of a pricing rule, newest first, with author and reason',
      scope: 'pricing:read',
      params,
      query: z.strictObject(pageQuery),
      answers: { 200: jsonAnswer('A page of versions.', pageOf(pricingRuleVersion, 'PricingRuleVersionPage')) },
      handle: async ({ params: { id }, query }) => {
        await find(id);
        return pageReply(
          query,
          CURSORS.pricingRuleVersion,
          ({ limit, after }) => {
            const before = after === undefined ? undefined : Number(after);
            return database.run((db) => listRuleVersions(db, id, { limit, before }));
          },
          pricingRuleVersionJson,
        );
      },
    }),
    operation(`PATCH ${PATH}/{id}`, {
      id: 'changePricingRule',
      summary: 'Change the terms of a pricing rule',
      description: 'Replaces all terms. The target cannot be changed: end the rule and create another one.',
      scope: 'pricing:write',
      params,
      body: z.strictObject({ terms: pricingTermsInput, reason, version }).meta({ id: 'PricingRuleChange' }),
      answers: { 200: ruleAnswer('The rule as it is now.') },
      problems: ['pricing_rule_changed'],
      handle: async ({ params: { id }, body, caller: { apiKeyId } }) => {
        const terms = termsFrom(body.terms);
        const errors = termsErrors(terms, 'terms');
        if (errors.length > 0) throw invalid(errors);
        return change(id, { terms, version: body.version }, { actor: apiKeyId, reason: body.reason });
      },
    }),
    operation(`DELETE ${PATH}/{id}`, {
      id: 'endPricingRule',
      summary: 'End a pricing rule',
      description:
        'Suggestions use the next less specific rule from now on. The rule and its versions can still be read.',
      scope: 'pricing:write',
      params,
      query: z.strictObject({ reason, version: versionInQuery }),
      answers: { 200: ruleAnswer('The rule that has ended.') },
      problems: ['pricing_rule_changed'],
      handle: async ({ params: { id }, query, caller: { apiKeyId } }) =>
        change(id, { terms: undefined, version: query.version }, { actor: apiKeyId, reason: query.reason }),
    }),
  ];
}
