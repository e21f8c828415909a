import { describe, expect, it } from 'vitest';
import { EVENT_KINDS, eventData, type EventKind } from '#upstream/contract.ts';
import { parseEvent } from '#upstream/mapping/events.ts';

const MONEY = { price_for_reseller: 4.5, currency: 'EUR' };
const charged = { amount: '4.5', currency: 'EUR' };
const ORDER = { id: 5, external_order_id: 'shop-1', esim_id: 'e_1', ...MONEY };
const TOPUP = { id: 't_1', esim_id: 42, package_id: 7, ...MONEY };
const REFUND = { id: 'r_1', esim_id: 'e_1', review: 'accepted', amount: '4.50', currency: 'EUR' };
const SUBSCRIPTION = { id: 'v_1', external_subscription_id: 'sub-1', vpn_plan_id: 3, ...MONEY };

const orderReading = { kind: 'order', serviceId: '5', reference: 'shop-1', serviceEsimId: 'e_1', charged };
const topupReading = { kind: 'topup', serviceId: 't_1', serviceEsimId: '42', productId: 7, charged };
const refundReading = (outcome: string, state: string, esim?: 'cancelled') => ({
  kind: 'cancellation',
  outcome,
  serviceId: 'r_1',
  serviceEsimId: 'e_1',
  cancellation: {
    ...(esim && { esim }),
    refund: { state, review: 'accepted' },
    serviceRefundId: 'r_1',
    refunded: { amount: '4.50', currency: 'EUR' },
  },
});
const subscriptionReading = { kind: 'vpn_subscription', serviceId: 'v_1', reference: 'sub-1', productId: 3, charged };

type Case = readonly [data: object, reading: object];
const caseOf = (record: object, status: string, reading: object): Case => [{ ...record, status }, reading];
const order = (outcome: string) => caseOf(ORDER, outcome, { ...orderReading, outcome });
const topup = (outcome: string) => caseOf(TOPUP, outcome, { ...topupReading, outcome });
const refund = (status: string) => caseOf(REFUND, status, refundReading('completed', status));
const subscription = (status: string, reading: object) =>
  caseOf(SUBSCRIPTION, status, { ...subscriptionReading, outcome: 'completed', ...reading });

/** For each kind of the specification: data of such an event, and the expected result. */
const CASES: Readonly<Record<EventKind, Case>> = {
  ping: [{}, {}],
  'order.completed': order('completed'),
  'order.processing': order('processing'),
  'order.failed': order('failed'),
  'topup.completed': topup('completed'),
  'topup.processing': topup('processing'),
  'topup.failed': topup('failed'),
  'esim.cancelled': [
    { esim_id: 'e_1', status: 'cancelled', refund: { ...REFUND, status: 'processing' } },
    refundReading('processing', 'processing', 'cancelled'),
  ],
  'refund.completed': refund('completed'),
  'refund.failed': refund('failed'),
  'vpn.subscription.active': subscription('active', {}),
  'vpn.subscription.cancelled': subscription('cancelled', { endedAs: 'cancelled' }),
  'vpn.subscription.expired': subscription('expired', { endedAs: 'expired' }),
  'vpn.subscription.failed': subscription('failed', { outcome: 'failed' }),
};

const parse = (event: string, data?: unknown) => parseEvent(Buffer.from(JSON.stringify({ event, data })));

const kinds = Object.keys(CASES) as EventKind[];
const withData = kinds.filter((kind) => eventData(kind) !== undefined);

describe('each event of the specification', () => {
  it.each(kinds)('%s gives the outcome and its subject', (event) => {
    const [data, reading] = CASES[event];
    expect(parse(event, data)).toEqual(
      event === 'ping' ? { kind: 'ping', event } : { kind: 'purchase', event, purchase: reading },
    );
  });

  it('is one of fourteen', () => {
    expect(EVENT_KINDS).toHaveLength(14);
    expect(EVENT_KINDS.toSorted()).toEqual(kinds.toSorted());
    expect(parse('topup.cancelled', {})).toMatchObject({ kind: 'quarantine', reason: 'unknown_kind' });
  });

  it.each(withData)('%s is quarantined when its own data contradict it', (event) => {
    const other = event === 'esim.cancelled' ? 'refused' : event.endsWith('failed') ? 'processing' : 'failed';
    const parsed = parse(event, { ...CASES[event][0], status: other });
    expect(parsed).toEqual({ kind: 'quarantine', reason: 'contradicts_itself', event });
  });

  it.each(withData)('%s states the outcome by its kind; a status is not needed, but must be readable', (event) => {
    const [data, reading] = CASES[event];
    expect(parse(event, { ...data, status: undefined })).toEqual({ kind: 'purchase', event, purchase: reading });
    expect(parse(event, { ...data, status: 'odd' })).toMatchObject({ reason: 'unreadable_data' });
  });

  it.each(withData)('%s is quarantined without a name of its subject, or without data', (event) => {
    const unreadable = { kind: 'quarantine', reason: 'unreadable_data', event };
    const names = new Set(['id', 'esim_id', 'external_order_id', 'external_subscription_id']);
    const nameless = Object.fromEntries(Object.entries(CASES[event][0]).filter(([name]) => !names.has(name)));
    expect(parse(event, nameless)).toEqual(unreadable);
    expect(parse(event)).toEqual(unreadable);
    expect(parse(event, null)).toEqual(unreadable);
  });
});

describe('an event', () => {
  it('of a cancellation with a refund of another eSIM is contradictory', () => {
    const refund = { ...REFUND, status: 'processing', esim_id: 'e_2' };
    const parsed = parse('esim.cancelled', { esim_id: 'e_1', status: 'cancelled', refund });
    expect(parsed).toMatchObject({ reason: 'contradicts_itself' });
  });

  it('of a VPN subscription gives access data that suffice, and no others', () => {
    const parsed = (access: unknown) => parse('vpn.subscription.active', { ...SUBSCRIPTION, status: 'active', access });
    const whole = { username: 'u', password: 'p-secret' };
    expect(parsed(whole)).toMatchObject({ purchase: { access: whole } });
    expect(parsed({ username: 'u', password: 'PENDING' })).not.toHaveProperty('purchase.access');
    expect(parsed(null)).not.toHaveProperty('purchase.access');
  });

  it.each([
    ['order.completed', { id: 'so_1' }, { serviceId: 'so_1' }],
    ['order.failed', { order_id: 7 }, { serviceId: '7' }],
    ['order.completed', { external_order_id: 'shop-1' }, { reference: 'shop-1' }],
    ['order.completed', { order: { external_order_id: 'shop-1' } }, { reference: 'shop-1' }],
    ['topup.completed', { topup_id: 't_1' }, { serviceId: 't_1' }],
    ['vpn.subscription.active', { subscription_id: 'v_1' }, { serviceId: 'v_1' }],
    ['vpn.subscription.active', { external_subscription_id: 'vpn-1' }, { reference: 'vpn-1' }],
    ['refund.failed', { refund_id: 'r_1' }, { serviceId: 'r_1' }],
  ])('%s needs no more than one name: %j', (event, data, named) => {
    expect(parse(event, data)).toMatchObject({ event, purchase: named });
  });

  const invalid = ['with a \0', 'two words', '', 'x'.repeat(129), 'shöp'];
  it.each(invalid)('has no subscription for an invalid reference: %j', (external_subscription_id) => {
    const parsed = parse('vpn.subscription.active', { ...SUBSCRIPTION, status: 'active', external_subscription_id });
    expect(parsed).toMatchObject({ purchase: { serviceId: 'v_1' } });
    expect(parsed).not.toHaveProperty('purchase.reference');
  });
});
