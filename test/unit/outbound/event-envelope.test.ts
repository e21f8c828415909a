import { describe, expect, it } from 'vitest';
import { eventEnvelope } from '#outbound/event-message.ts';

describe('the envelope of events', () => {
  it('has type, time, subject and its path, and nothing about the storage', () => {
    const subject = { subjectKind: 'vpn_subscription', subjectId: 'vpn_1' } as const;
    const stored = { sequence: 7n, position: 3n, apiKeyId: 'key_1', traceparent: null };
    const event = {
      id: 'evt_1',
      type: 'vpn_subscription.active',
      ...subject,
      ...stored,
      data: { status: 'active' },
      occurredAt: new Date(0),
    } as const;
    expect(eventEnvelope(event)).toEqual({
      id: 'evt_1',
      type: 'vpn_subscription.active',
      created_at: '1970-01-01T00:00:00.000Z',
      subject: { kind: 'vpn_subscription', id: 'vpn_1', href: '/v1/vpn/subscriptions/vpn_1' },
      data: { status: 'active' },
    });
  });
});
