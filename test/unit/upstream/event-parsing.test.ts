import { describe, expect, it } from 'vitest';
import { storedReason } from '#domain/work/foreign-text.ts';
import { type QuarantineReason, parseEvent } from '#upstream/mapping/events.ts';

const order = { id: 'so_1', status: 'completed', external_order_id: 'shop-1' };
const data = { ...order, esim_id: 42, price_for_reseller: 4.5, currency: 'EUR' };
const completed = { event: 'order.completed', created_at: '2025-06-01T12:00:00Z', data };

const parse = (body: unknown) =>
  parseEvent(Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

it('an event is the same with unknown fields', () => {
  const more = { ...completed, version: 3, data: { ...data, nested: { deep: [1] } } };
  expect(parse(more)).toEqual(parse(completed));
});

it('a negative price in an event is no charge; the rest of the event is read', () => {
  const event = parse({ ...completed, data: { ...data, price_for_reseller: '-1.00' } });
  expect(event).toMatchObject({ kind: 'purchase', purchase: { outcome: 'completed', serviceId: 'so_1' } });
  expect(event).not.toHaveProperty('purchase.charged');
  expect(parse(completed)).toMatchObject({ purchase: { charged: { amount: '4.5', currency: 'EUR' } } });
});

describe('quarantined is', () => {
  it.each<[string, unknown, QuarantineReason]>([
    ['a body that is not UTF-8', Buffer.from('{"event":"p\xffng"}', 'latin1'), 'not_utf8'],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xae, 0x22]), 'not_utf8'],
    ['half a surrogate pair in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'not_utf8'],
    ['an empty body', '', 'not_json'],
    ['a form', 'event=ping', 'not_json'],
    ['JSON with something after it', '{"event":"ping"}x', 'not_json'],
    ['two events in one body', '{"event":"order.failed","event":"order.completed"}', 'duplicate_key'],
    ['two events, one spelled with escapes', String.raw`{"event":"ping","\u0065vent":"ping"}`, 'duplicate_key'],
    [
      'two statuses in the data',
      '{"event":"order.failed","data":{"id":1,"status":"failed","status":"completed"}}',
      'duplicate_key',
    ],
    ['a body without an event', { data }, 'no_event'],
    ['an event that is no text', { event: 1 }, 'no_event'],
    ['an empty event', { event: '' }, 'no_event'],
    ['an array', [completed], 'no_event'],
    ['null', 'null', 'no_event'],
    ['an event under __proto__', '{"__proto__":{"event":"ping"}}', 'no_event'],
    ['an unknown kind', { event: 'order.exploded', data }, 'unknown_kind'],
    ['a kind in other letters', { event: 'Order.Completed', data }, 'unknown_kind'],
    ['the name of an object method', { event: 'toString' }, 'unknown_kind'],
    ['data that is no object', { event: 'order.completed', data: 'x' }, 'unreadable_data'],
    ['an id with a NUL', { ...completed, data: { ...data, id: 'so\0' } }, 'unreadable_data'],
    [
      'data with fields below __proto__',
      '{"event":"order.completed","data":{"__proto__":{"id":"1","status":"completed"}}}',
      'unreadable_data',
    ],
  ])('%s', (_name, body, reason) => {
    expect(parse(body)).toMatchObject({ kind: 'quarantine', reason });
  });

  it('an event that is nested too deeply, without a stack overflow', () => {
    for (const depth of [1_500, 100_000]) {
      const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
      expect(parse(`{"event":"order.completed","extra":${deep}}`)).toEqual({ kind: 'quarantine', reason: 'too_deep' });
    }
  });

  it('no event because of its size or moderate depth', () => {
    const deep = `${'['.repeat(150)}${']'.repeat(150)}`;
    const long = 'x'.repeat(1_000_000);
    const escaped = String.raw`\n`.repeat(500_000);
    for (const extra of [deep, `"${long}"`, `"${escaped}"`, `{"${long}":1}`])
      expect(parse(`{"event":"ping","extra":${extra}}`)).toEqual({ kind: 'ping', event: 'ping' });
  });
});

describe('an event in another form', () => {
  const capitals = { ...order, status: undefined, state: 'COMPLETED' };
  it.each<[string, object]>([
    ['names itself as type', { type: 'order.completed', data: order }],
    ['names itself as event_type', { event_type: 'order.completed', data: order }],
    ['has a type of another kind beside its name', { event: 'order.completed', type: 'webhook', data: order }],
    ['wraps the order', { event: 'order.completed', data: { order } }],
    ['has no readable time', { event: 'order.completed', created_at: 'now', data: order }],
    ['has a state in capitals', { event: 'order.completed', data: capitals }],
  ])('is read although it %s', (_name, body) => {
    expect(parse(body)).toMatchObject({
      purchase: { kind: 'order', outcome: 'completed', serviceId: 'so_1', reference: 'shop-1' },
    });
  });

  it.each([
    [{ code: 'no_stock', message: 'Sold out.' }, 'The service reports no_stock: “Sold out.”', 'Sold out.'],
    ['Sold out today.', 'The service reports a failure: “Sold out today.”', 'Sold out today.'],
    ['no_stock', 'The service reports no_stock.', undefined],
  ])('has the reason of the service, as an object or as one text (%j)', (failure, failureDetail, serviceMessage) => {
    const event = parse({ event: 'order.failed', data: { ...order, status: 'failed', failure } });
    const stored = storedReason('purchase' in event ? event.purchase.reason : undefined);
    expect(stored).toEqual(expect.objectContaining({ failureDetail, serviceMessage }));
  });

  it.each<[string, object, QuarantineReason]>([
    ['two orders', { event: 'order.completed', data: { id: 991, status: 'completed', order } }, 'unreadable_data'],
    ['two names', { event: 'order.completed', type: 'order.failed', data: order }, 'no_event'],
  ])('is not read when it has %s', (_name, body, reason) => {
    expect(parse(body)).toMatchObject({ kind: 'quarantine', reason });
  });
});
