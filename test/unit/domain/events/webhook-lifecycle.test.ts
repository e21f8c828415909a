import { describe, expect, it } from 'vitest';
import {
  DELIVERY_EVENTS,
  DELIVERY_LIFECYCLE,
  DELIVERY_STATES,
  type DeliveryEvent,
  type DeliveryState,
  DISABLED_REASONS,
  ENDPOINT_EVENTS,
  ENDPOINT_LIFECYCLE,
  ENDPOINT_STATES,
  type EndpointEvent,
  type EndpointState,
  EVENT_OF_TRY,
} from '#domain/events/webhook-delivery.ts';

const DELIVERY = Object.keys(DELIVERY_EVENTS) as DeliveryEvent[];
const ENDPOINT = Object.keys(ENDPOINT_EVENTS) as EndpointEvent[];

function deliveryAfter(state: DeliveryState, event: DeliveryEvent): DeliveryState {
  const next = DELIVERY_LIFECYCLE[event][state];
  return next === 'unchanged' ? state : next;
}

function endpointAfter(state: EndpointState, event: EndpointEvent): EndpointState {
  const next = ENDPOINT_LIFECYCLE[event][state];
  return next === 'unchanged' || next === 'forbidden' ? state : next;
}

describe('the lifecycle of a webhook delivery', () => {
  /** The table a second time, as conditions. */
  function meaning(state: DeliveryState, event: DeliveryEvent): DeliveryState {
    if (event === 'queued') return 'pending';
    if (event === 'arrived') return 'delivered';
    // An ended delivery waits for nothing. A late try neither reopens nor ends it.
    return event === 'given_up' && state === 'pending' ? 'failed' : state;
  }

  it('defines a state for every pair of state and event, equal to the conditions of this file', () => {
    expect(Object.keys(DELIVERY_LIFECYCLE)).toEqual(DELIVERY);
    const pairs = DELIVERY_STATES.flatMap((state) => DELIVERY.map((event) => ({ state, event })));
    expect(pairs).toHaveLength(3 * 4);
    expect(pairs.map(({ state, event }) => ({ state, event, next: deliveryAfter(state, event) }))).toEqual(
      pairs.map(({ state, event }) => ({ state, event, next: meaning(state, event) })),
    );
  });

  it('determines the event of a try from the resulting state', () => {
    for (const state of DELIVERY_STATES) expect(deliveryAfter('pending', EVENT_OF_TRY[state])).toBe(state);
  });
});

describe('the lifecycle of a webhook endpoint', () => {
  /** The table a second time, as conditions; undefined for impossible requests. */
  function meaning(state: EndpointState, event: EndpointEvent): EndpointState | undefined {
    const isFound = event === 'found_gone' || event === 'found_failing';
    // A deleted endpoint cannot be found, and no event changes it.
    if (state === 'deleted') return isFound ? 'deleted' : undefined;
    if (event === 'delete') return 'deleted';
    if (event === 'enable') return 'enabled';
    // A request of a caller takes precedence over a detected failure, which applies only to an enabled endpoint.
    if (event === 'disable') return 'request';
    if (state !== 'enabled') return state;
    return event === 'found_gone' ? 'gone' : 'failing';
  }

  it('defines a state for every pair of state and event, equal to the conditions of this file', () => {
    expect(Object.keys(ENDPOINT_LIFECYCLE)).toEqual(ENDPOINT);
    const pairs = ENDPOINT_STATES.flatMap((state) => ENDPOINT.map((event) => ({ state, event })));
    expect(pairs).toHaveLength(5 * 5);
    const next = (state: EndpointState, event: EndpointEvent) =>
      ENDPOINT_LIFECYCLE[event][state] === 'forbidden' ? undefined : endpointAfter(state, event);
    expect(pairs.map(({ state, event }) => ({ state, event, next: next(state, event) }))).toEqual(
      pairs.map(({ state, event }) => ({ state, event, next: meaning(state, event) })),
    );
  });

  it('has a state for each reason of a disabled endpoint', () => {
    expect([...ENDPOINT_STATES]).toEqual(['enabled', ...Object.keys(DISABLED_REASONS), 'deleted']);
  });
});

it('each event of a delivery or an endpoint has a sentence', () => {
  for (const sentence of [...Object.values(DELIVERY_EVENTS), ...Object.values(ENDPOINT_EVENTS)])
    expect(sentence).toMatch(/^[A-Z].*[^.]\.$/);
});
