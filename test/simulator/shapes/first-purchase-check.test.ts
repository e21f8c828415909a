/** The results of a read before the first purchase, over HTTP at the simulator. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { judgeFirstPurchaseCheck } from '#domain/gate/first-purchase-check.ts';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import { DIALECTS } from '#simulator/behaviour/dialect.ts';
import { describedService } from '#simulator/service/openapi.ts';
import { SHAPES } from '#simulator/shapes/shape.ts';
import { Shaper } from '#simulator/shapes/shaper.ts';
import { startLookedAt, type LookedAt } from '#test/simulator/shapes/first-purchase-check-support.ts';
import { Draft } from '#test/support/contract-differences/draft.ts';
import { describeHeaders, headersOf } from '#test/support/contract-differences/interface.ts';
import { contractOpenApi } from '#test/support/contract-openapi.ts';
import { checkContract, readDocument } from '#upstream/contract-check.ts';
import { ENDPOINTS, type EndpointName } from '#upstream/contract.ts';
import { PURCHASE_CHECKS } from '#upstream/first-purchase-check.ts';

let service: LookedAt;
beforeEach(async () => {
  service = await startLookedAt();
});
afterEach(async () => await service[Symbol.asyncDispose]());

describe('the check of the service before the first purchase', () => {
  it('uses its document as evidence for every kind, and spends nothing', async () => {
    const seen = await service.look();
    for (const kind of PURCHASE_KINDS) {
      expect(seen[kind].problems, kind).toEqual([]);
      expect(seen[kind].evidence, kind).toEqual([expect.stringContaining('OpenAPI document')]);
    }
    const debits = (await service.simulator.ledger('production')).filter(({ type }) => type === 'debit');
    expect(debits).toEqual([]);
  });

  it('has no evidence without a document and purchases, and names the calls without any', async () => {
    await service.hideDocument();
    const seen = await service.look();
    expect(seen.order).toMatchObject({ problems: [], evidence: [] });
    expect(seen.order.missing).toEqual([
      expect.stringMatching(/^GET \/openapi\.json: it answered 404/),
      'GET /orders: it shows no purchase that was completed',
    ]);
    expect(seen.topup.missing.at(-1)).toBe('GET /topups: it shows no purchase that was completed');
    const last = seen.vpn_subscription.missing.at(-1);
    expect(last).toBe('GET /vpn/subscriptions: it shows no purchase that was completed');
  });

  it.each(PURCHASE_KINDS)('uses a listed purchase of the kind as evidence: %s', async (kind) => {
    await service.hideDocument();
    await service.buyOne(kind);
    expect(await service.look()).toMatchObject({
      [kind]: { problems: [], evidence: [expect.stringMatching(/^GET \/.* shows a completed purchase/)] },
    });
  });

  const listed = (...data: object[]) => ({ data, next_cursor: null });
  const unpriced = listed({ id: 1, name: 'One', currency: 'EUR' });
  const order = { id: 'o-1', status: 'completed', external_order_id: 'ours', esim_id: 'e-1' };
  it.each<[string, EndpointName, unknown, PurchaseKind, RegExp]>([
    ['a package without a price', 'listPackages', unpriced, 'order', /^GET \/packages: .*price_for_reseller/],
    ['options of top-ups, by the packages', 'listPackages', unpriced, 'topup', /^GET \/packages: .*price_for_reseller/],
    ['a plan without a price', 'listVpnPlans', unpriced, 'vpn_subscription', /^GET \/vpn\/plans: .*price_for_reseller/],
    ['a wallet without a balance', 'getWallet', { currency: 'EUR' }, 'topup', /^GET \/wallet: .*balance/],
    [
      'movements without an amount',
      'listWalletTransactions',
      listed({ id: 'm', type: 'debit' }),
      'order',
      /^GET \/wallet\/transactions: .*amount/,
    ],
    ['no package at all', 'listPackages', listed(), 'order', /^GET \/packages: the list is empty/],
    [
      'completed orders without an eSIM',
      'listOrders',
      listed({ ...order, esim_id: null }),
      'order',
      /^GET \/orders: completed purchases lack data\[\]\.esim_id/,
    ],
    ['orders without a status', 'listOrders', listed({ id: 'o-1' }), 'order', /^GET \/orders: .*status/],
    [
      'top-ups without their eSIM',
      'listTopups',
      listed({ id: 't-1', status: 'completed' }),
      'topup',
      /^GET \/topups: completed purchases lack data\[\]\.esim_id/,
    ],
  ])('names the difference although the document matches: %s', async (_, endpoint, body, kind, problem) => {
    await service.answers(endpoint, 200, body);
    const sighting = (await service.look())[kind];
    expect(sighting.evidence).toHaveLength(1);
    expect(sighting.problems).toEqual([expect.stringMatching(problem)]);
  });

  it('counts only the enabled calls', async () => {
    const capabilities = { ...ALL_CAPABILITIES, wallet_transactions: false, order_read: false };
    const { order: sighting } = await service.look({ capabilities });
    const count = PURCHASE_CHECKS.order.calls.length - 2;
    expect(sighting.evidence).toEqual([expect.stringContaining(`has the ${count} calls`)]);
  });

  it('reports a wallet with another currency than every price', async () => {
    await service.answers('getWallet', 200, { balance: '100.00', currency: 'XAF' });
    const seen = await service.look();
    expect(seen.order.problems).toEqual(['GET /wallet: currency is XAF, and no price of GET /packages has it']);
    const ofPlans = 'GET /wallet: currency is XAF, and no price of GET /vpn/plans has it';
    expect(seen.vpn_subscription.problems).toEqual([ofPlans]);
  });

  it('reads a list of packages with omitted entries', async () => {
    const whole = { id: 1, name: 'One', price_for_reseller: '3.20', currency: 'EUR' };
    await service.answers('getWallet', 200, { balance: '100.00', currency: 'EUR' });
    await service.answers('listPackages', 200, listed(whole, { id: 2 }));
    expect((await service.look()).order.problems).toEqual([]);
  });

  it('names an unreadable eSIM, and missing access data of an active subscription', async () => {
    await service.answers('listOrders', 200, listed(order));
    await service.answers('getEsim', 200, { id: 'e-1', status: 'new' });
    const subscription = { id: 's-1', external_subscription_id: 'ours', status: 'active' };
    await service.answers('listVpnSubscriptions', 200, listed(subscription));
    await service.answers('getVpnSubscription', 200, subscription);
    const seen = await service.look();
    expect(seen.order.problems).toEqual([expect.stringMatching(/^GET \/esims\/\{id\}: .*activation_code/)]);
    const noAccess = 'GET /vpn/subscriptions/{id}: access is missing in an active subscription';
    expect(seen.vpn_subscription.problems).toEqual([noAccess]);
  });

  it('ignores purchases of other origin, without our reference', async () => {
    await service.answers('listOrders', 200, listed({ ...order, external_order_id: null }));
    const { order: sighting } = await service.look();
    expect(sighting).toMatchObject({ problems: [], evidence: [expect.stringContaining('OpenAPI document')] });
    expect(sighting.missing).toEqual(['GET /orders: completed purchases lack data[].external_order_id']);
  });

  it('does not use a document without readable events as evidence, and ignores header names', async () => {
    const draft = new Draft();
    const webhooks = { extra: { $ref: '#/nowhere' } };
    const broken = { ...draft.document, webhooks };
    const { order: sighting } = await service.look({ document: broken });
    expect(sighting.problems).toContainEqual(expect.stringMatching(/^events extra refers to "#\/nowhere"/));
    expect(sighting.evidence).toEqual([]);
    describeHeaders(draft, headersOf('X-Acme'));
    expect((await service.look({ document: draft.document })).order.problems).toEqual([]);
  });

  it('compares a document file, and names only the calls that a kind needs', async () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(document.paths, '/vpn/orders');
    Reflect.deleteProperty(document.paths, '/refunds');
    const seen = await service.look({ document: { ...document } });
    const missing: unknown = expect.stringMatching(/^POST \/vpn\/orders: is not in the document/);
    expect(seen.vpn_subscription.problems).toEqual([missing]);
    expect([seen.order.problems, seen.topup.problems]).toEqual([[], []]);
  });

  it('reports each needed call that is missing in the document', async () => {
    for (const kind of PURCHASE_KINDS) {
      for (const call of PURCHASE_CHECKS[kind].calls) {
        const document = contractOpenApi();
        const { method, path } = ENDPOINTS[call];
        Reflect.deleteProperty(document.paths[path] ?? {}, method.toLowerCase());
        const { problems } = (await service.look({ kinds: [kind], document: { ...document } }))[kind];
        expect(problems, kind).toContainEqual(expect.stringContaining(`${method} ${path}: `));
      }
    }
  });

  it('makes no call for kinds without a hold, and stops between two calls on abort', async () => {
    expect(await service.look({ kinds: [] })).toEqual({});
    expect(await service.look({ signal: AbortSignal.abort() })).toEqual({});
    expect((await service.simulator.requests()).map(({ endpoint }) => endpoint)).not.toContain('getWallet');
  });
});

it('a document without the values of states is compatible, and allows no purchase', async () => {
  // Like many real documents.
  const described = describedService(DIALECTS.replays, 'production', new Shaper(SHAPES.other_words));
  const isLeftOut = (key: string) => key === 'enum' || key === 'const';
  const text = JSON.stringify(described, (key, value: unknown) => (isLeftOut(key) ? undefined : value));
  const document = readDocument(Buffer.from(text));
  expect(checkContract(document, ALL_CAPABILITIES).compatible).toBe(true);
  await service.simulator.admin.post('/shape', { name: 'other_words' });
  const seen = await service.look({ document });
  for (const kind of PURCHASE_KINDS) {
    expect(seen[kind].evidence).toEqual([]);
    const reason: unknown = expect.stringContaining('status is described without its possible values');
    expect(judgeFirstPurchaseCheck(kind, seen[kind])).toMatchObject({ kind: 'unseen', reason });
  }
});
