import * as z from 'zod';
import { type AdminCalls, conflict } from '#simulator/admin/calls.ts';
import { esimOf, refundOf, SALE_PATHS, saleOf } from '#simulator/admin/reads.ts';
import {
  deliveryView,
  dialectView,
  esimView,
  refundView,
  saleView,
  shapeView,
  stateView,
} from '#simulator/admin/views.ts';
import { behaviourRule } from '#simulator/behaviour/behaviours.ts';
import { dialectChoice } from '#simulator/behaviour/dialect.ts';
import { faultProfile, faultRule } from '#simulator/behaviour/faults.ts';
import { publicPriceOf } from '#simulator/catalogue.ts';
import { isoTime } from '#simulator/clock.ts';
import { REFUND_STEPS } from '#simulator/sales/cancellations.ts';
import { changeEsimState } from '#simulator/sales/esims.ts';
import { completeSale, failSale, saleSubject } from '#simulator/sales/progress.ts';
import { endSubscription } from '#simulator/sales/vpn-subscriptions.ts';
import { existing, notFound } from '#simulator/service/errors.ts';
import { rateLimit } from '#simulator/service/rate-limit.ts';
import { nothing } from '#simulator/service/requests.ts';
import { publishRelease, releases } from '#simulator/service/updates.ts';
import { shapeChoice } from '#simulator/shapes/shape.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Sale } from '#simulator/store/rows.ts';
import { ENVIRONMENTS } from '#simulator/store/store.ts';
import { balanceOf, covers, move } from '#simulator/wallet.ts';
import { chooseTarget } from '#simulator/webhooks/endpoints.ts';
import { tampering } from '#simulator/webhooks/queue.ts';
import { wirePackage, wireVpnPlan } from '#simulator/wire.ts';
import { SIMULATED_STATES } from '#upstream/contract.ts';

const environment = z.enum(ENVIRONMENTS);
const inSandbox = environment.default('sandbox');
const amount = z.string().regex(/^(?:0|[1-9]\d{0,11})(?:\.\d{1,6})?$/, 'must be an amount as text, such as "10.00"');
const name = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be visible ASCII characters');

export function addRules(calls: AdminCalls, simulation: Simulation): void {
  const { store, faults, behaviours, rateLimiter } = simulation;
  calls.get('/faults', nothing, () => ({ data: faults.list() }));
  calls.post(201, '/faults', faultRule, (rule) => faults.add(rule));
  calls.delete('/faults', () => {
    simulation.chooseFaultProfile(faultProfile.parse({}));
    store.remove('fault_rules');
  });
  calls.deleteOne('/faults', 'fault rule', (id) => store.remove('fault_rules', { id }));
  calls.get('/fault-profile', nothing, () => simulation.faultProfile);
  calls.post(200, '/fault-profile', faultProfile, (chosen) => {
    simulation.chooseFaultProfile(chosen);
    return { ...simulation.faultProfile, rules: faults.list().filter(({ profile }) => profile) };
  });
  calls.get('/behaviour', nothing, () => ({ data: behaviours.list() }));
  calls.post(201, '/behaviour', behaviourRule, (rule) => behaviours.add(rule));
  calls.delete('/behaviour', () => void store.remove('behaviours'));
  calls.deleteOne('/behaviour', 'behaviour rule', (id) => store.remove('behaviours', { id }));
  calls.get('/dialect', nothing, () => dialectView(simulation));
  calls.post(200, '/dialect', dialectChoice, (choice) => {
    simulation.choose('dialect', choice);
    return dialectView(simulation);
  });
  calls.get('/shape', nothing, () => shapeView(simulation));
  calls.post(200, '/shape', shapeChoice, (choice) => {
    simulation.choose('shape', choice);
    return shapeView(simulation);
  });
  calls.get('/rate-limit', nothing, () => rateLimiter.limit);
  calls.post(200, '/rate-limit', rateLimit, (limit) => {
    rateLimiter.choose(limit);
    return rateLimiter.limit;
  });
}

export function addWebhooks(calls: AdminCalls, simulation: Simulation): void {
  const { store, webhooks } = simulation;
  const delivery = (id: string) => existing(store.get('deliveries', { id }), 'delivery');
  const view = (id: string) => deliveryView(simulation, delivery(id));
  // `url` null: nothing is sent. Without a secret, the present one stays. Without an environment, both are changed.
  const target = z.strictObject({
    environment: environment.optional(),
    url: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).nullable(),
    secret: z.string().min(8).optional(),
  });
  calls.post(200, '/webhooks/target', target, ({ environment: only, url, secret }) => {
    const environments = only === undefined ? ENVIRONMENTS : [only];
    for (const each of environments) chooseTarget(simulation, each, url === null ? undefined : { url, secret });
    return { environments, url };
  });
  calls.post(202, '/webhooks/ping', z.strictObject({ environment: inSandbox }), ({ environment: where }) =>
    view(webhooks.enqueue({ environment: where, event: 'ping', subject: null, data: {} })),
  );
  const send = z.strictObject({
    environment: inSandbox,
    event: name,
    data: z.record(z.string(), z.unknown()).default({}),
    body: z.string().max(1_048_576).optional(),
    ...tampering.shape,
  });
  calls.post(202, '/webhooks/send', send, ({ environment: where, event, data, body, ...how }) =>
    view(webhooks.enqueueTampered({ environment: where, event, subject: null, data }, body, how)),
  );
  calls.post(202, '/deliveries/:id/replay', nothing, (_, id) =>
    webhooks.replay(delivery(id)) ? view(id) : conflict('The delivery is being sent. Try again in a moment.'),
  );
}

export function addActions(calls: AdminCalls, simulation: Simulation): void {
  addMoneyAndTime(calls, simulation);
  addStateChanges(calls, simulation);
  addCatalogue(calls, simulation);
  calls.post(200, '/reset', nothing, () => {
    simulation.reset();
    return stateView(simulation);
  });
}

function addMoneyAndTime(calls: AdminCalls, simulation: Simulation): void {
  const { clock, store } = simulation;
  const positive = amount.refine((text) => /[1-9]/.test(text), 'must be more than zero');
  calls.post(201, '/deposits', z.strictObject({ environment, amount: positive }), (deposit) => {
    simulation.deposit(deposit.environment, deposit.amount);
    return { environment: deposit.environment, balance: balanceOf(simulation, deposit.environment) };
  });
  const named = { order_id: z.string(), topup_id: z.string(), vpn_subscription_id: z.string() };
  const kinds = [
    ['order_id', 'order'],
    ['topup_id', 'topup'],
    ['vpn_subscription_id', 'vpn'],
  ] as const;
  const movement = z
    .strictObject({
      environment,
      type: z.enum(['debit', 'credit']),
      amount,
      reason: z.string().regex(/^[\x20-\x7e]{1,64}$/, 'must be 1 to 64 printable ASCII characters'),
      ...z.object(named).partial().shape,
    })
    .refine((given) => kinds.filter(([id]) => given[id] !== undefined).length <= 1, 'names more than one sale');
  calls.post(201, '/movements', movement, ({ environment: where, type, amount: sum, reason, ...sale }) => {
    const [subject] = kinds.flatMap(([name, kind]) => {
      const id = sale[name];
      return id === undefined ? [] : [saleOf(simulation, kind, id)];
    });
    if (subject !== undefined && subject.environment !== where) throw notFound('sale');
    if (type === 'debit' && !covers(simulation, where, sum)) conflict('The wallet does not cover the amount.');
    move(simulation, where, type, sum, { reason, ...(subject && saleSubject(subject)) });
    return { environment: where, balance: balanceOf(simulation, where) };
  });
  calls.post(200, '/approval', z.strictObject({ approved: z.boolean() }), ({ approved }) => {
    store.set('approved', approved);
    return { approved };
  });
  calls.post(200, '/tokens/revoke', z.strictObject({ environment }), (filter) => {
    return { revoked: store.remove('tokens', filter) };
  });
  calls.post(200, '/clock/advance', z.strictObject({ ms: z.int().min(1).max(31_536_000_000_000) }), ({ ms }) => {
    simulation.advanceClock(ms);
    return { time: isoTime(clock.correct()), clock_ahead_ms: clock.offset };
  });
}

function addStateChanges(calls: AdminCalls, simulation: Simulation): void {
  const failure = z.strictObject({
    code: z.string().min(1).max(64).default('supplier_failed'),
    message: z.string().max(500).default('The supplier could not deliver it.'),
  });
  const changed = (sale: Sale | undefined) => saleView(simulation, sale ?? conflict('It is no longer processing.'));
  for (const kind of ['order', 'topup', 'vpn'] as const) {
    calls.post(200, `${SALE_PATHS[kind]}/:id/complete`, nothing, (_, id) =>
      changed(completeSale(simulation, saleOf(simulation, kind, id))),
    );
    calls.post(200, `${SALE_PATHS[kind]}/:id/fail`, failure, (reason, id) =>
      changed(failSale(simulation, saleOf(simulation, kind, id), reason)),
    );
  }
  const ends = { expire: 'expired', cancel: 'cancelled' } as const;
  for (const action of ['expire', 'cancel'] as const) {
    calls.post(200, `/vpn-subscriptions/:id/${action}`, nothing, (_, id) => {
      const sale = saleOf(simulation, 'vpn', id);
      if (!endSubscription(simulation, sale, ends[action])) conflict('The subscription is not active.');
      return saleView(simulation, sale);
    });
  }
  calls.post(200, '/esims/:id/state', z.strictObject({ state: z.enum(SIMULATED_STATES) }), ({ state }, id) =>
    esimView(simulation, changeEsimState(simulation, esimOf(simulation, id), state)),
  );
  const decided = 'The refund is already decided.';
  const unpaid = 'No payment of this refund is outstanding.';
  const decisions = [
    ['accept', REFUND_STEPS.accept, decided],
    ['refuse', REFUND_STEPS.refuse, decided],
    ['complete', REFUND_STEPS.pay, unpaid],
    ['fail', REFUND_STEPS.fail, unpaid],
  ] as const;
  for (const [action, decide, problem] of decisions) {
    calls.post(200, `/refunds/:id/${action}`, nothing, (_, id) =>
      refundView(simulation, decide(simulation, refundOf(simulation, id)) ?? conflict(problem)),
    );
  }
}

function addCatalogue(calls: AdminCalls, { store, packages, plans }: Simulation): void {
  const item = {
    id: z.int().min(1).max(2_147_483_647),
    name: z.string().min(1).max(200),
    price_for_reseller: amount,
    available: z.boolean().default(true),
  };
  const newPackage = z.strictObject({
    ...item,
    countries: z.array(z.string()).default([]),
    data_mb: z.number().positive().nullable().default(null),
    validity_days: z.int().min(1).default(30),
  });
  calls.post(201, '/packages', newPackage, (given) => {
    const { data_mb: dataMb, validity_days: validityDays, price_for_reseller: price, ...others } = given;
    return wirePackage(packages.add({ ...others, dataMb, validityDays, price, publicPrice: publicPriceOf(price) }));
  });
  const newPlan = z.strictObject({ ...item, duration_days: z.int().min(1).default(30) });
  calls.post(201, '/vpn-plans', newPlan, ({ duration_days: durationDays, price_for_reseller: price, ...others }) =>
    wireVpnPlan(plans.add({ ...others, durationDays, price })),
  );
  calls.deleteOne('/packages', 'package', (id) => packages.remove(Number(id)));
  calls.deleteOne('/vpn-plans', 'VPN plan', (id) => plans.remove(Number(id)));
  const change = z
    .strictObject({ available: z.boolean().optional(), price_for_reseller: amount.optional() })
    .refine((given) => Object.keys(given).length > 0, 'names nothing to change');
  calls.post(200, '/packages/:id', change, ({ available, price_for_reseller: price }, id) =>
    wirePackage(existing(packages.change(Number(id), { available, price }), 'package')),
  );
  calls.post(200, '/vpn-plans/:id', change, ({ available, price_for_reseller: price }, id) =>
    wireVpnPlan(existing(plans.change(Number(id), { available, price }), 'VPN plan')),
  );
  const release = z.strictObject({
    channel: z.string().regex(/^[\x21-\x7e]{1,64}$/, 'must be visible ASCII characters'),
    version: z
      .string()
      .max(64)
      .regex(/^\d+(?:\.\d+)*$/, 'must be dotted numbers'),
  });
  calls.get('/updates', nothing, () => releases(store));
  calls.post(200, '/updates', release, ({ channel, version }) => {
    publishRelease(store, channel, version);
    return releases(store);
  });
}
