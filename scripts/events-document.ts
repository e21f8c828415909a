/** `docs/reference/events.md`, made from the closed set of event types. */
import { EVENT_TYPES, eventTypes, type EventSubjectKind, type EventType } from '#domain/events.ts';
import { ID_PREFIXES } from '#domain/identifiers.ts';
import { webhookBody } from '#outbound/webhook-message.ts';
import type { EventData } from '#db/schema/events.ts';

/** What `data` of each kind of subject holds, by example. */
const EXAMPLES: Readonly<Record<EventSubjectKind, { readonly id: string; readonly type: EventType; readonly data: EventData }>> = {
  order: {
    id: ulid('order'),
    type: 'order.completed',
    data: work('completed', 'processing', { external_order_id: 'shop-2030-000123', package_id: 1001, esim_id: ulid('esim') }),
  },
  topup: {
    id: ulid('topup'),
    type: 'topup.completed',
    data: work('completed', 'processing', { external_topup_id: 'topup-17', package_id: 1001, esim_id: ulid('esim') }),
  },
  vpn_subscription: {
    id: ulid('vpn_subscription'),
    type: 'vpn_subscription.active',
    data: work('active', 'processing', { external_subscription_id: 'vpn-2030-17', vpn_plan_id: 301 }),
  },
  cancellation: {
    id: ulid('cancellation'),
    type: 'cancellation.completed',
    data: work('completed', 'processing', { accept_without_refund: false, esim_id: ulid('esim') }),
  },
  refund: {
    id: ulid('refund'),
    type: 'refund.completed',
    data: {
      status: 'completed',
      previous_status: 'expected',
      cancellation_id: ulid('cancellation'),
      order_id: ulid('order'),
      esim_id: ulid('esim'),
      amount: { amount: '3.20', currency: 'USD' },
    },
  },
  esim: {
    id: ulid('esim'),
    type: 'esim.data_low',
    data: {
      data_used_mb: 820,
      data_total_mb: 1024,
      data_left_mb: 204,
      share_left: 0.1992,
      threshold_share: 0.2,
      measured_at: '2030-01-26T11:58:00.000Z',
      read_at: '2030-01-26T12:00:00.000Z',
    },
  },
  wallet: { id: 'wallet', type: 'wallet.balance_low', data: { balance: { amount: '41.20', currency: 'USD' }, threshold: { amount: '50', currency: 'USD' } } },
  webhook_endpoint: {
    id: ulid('webhookEndpoint'),
    type: 'webhook_endpoint.disabled',
    data: { reason: 'failing', detail: 'it answered 503', failing_since: '2030-01-26T12:00:00.000Z' },
  },
};

/** The document as it must be. */
export function eventsDocument(): string {
  const kinds = Object.keys(EXAMPLES) as EventSubjectKind[];
  return [
    '# Events',
    '',
    'Made by `npm run generate:events` from `domain/events.ts`; a test compares them.',
    '',
    'Every event that is announced, in the feed and by [webhooks](../how-to/webhooks-out.md). The set is closed: new types come with a new version and an',
    'entry in the changelog. An event says that something has changed; what it is like now is read from `subject.href`. Within a body more fields may come.',
    '',
    'Webhook endpoints choose by type (`order.completed`), by kind (`order.*`), or take all (`*`).',
    '',
    ...kinds.flatMap((kind) => section(kind)),
  ].join('\n');
}

function section(kind: EventSubjectKind): string[] {
  const { id, type, data } = EXAMPLES[kind];
  const body: unknown = JSON.parse(webhookBody({ ...EVENT, type, subjectKind: kind, subjectId: id, data }).toString('utf8'));
  return [
    `## \`${kind}.*\``,
    '',
    '| type | when |',
    '|---|---|',
    ...eventTypes.filter((each) => each.startsWith(`${kind}.`)).map((each) => `| \`${each}\` | ${EVENT_TYPES[each]} |`),
    '',
    '```json',
    JSON.stringify(body, null, 2),
    '```',
    '',
  ];
}

const EVENT = {
  sequence: 1n,
  position: 1n,
  id: 'evt_01JQ8ZD5P7QRSTVWXYZ0123456',
  apiKeyId: null,
  occurredAt: new Date('2030-01-31T12:00:00.000Z'),
};

function work(status: string, before: string, facts: EventData): EventData {
  return {
    status,
    previous_status: before,
    ...facts,
    failure_class: null,
    attention_reason: null,
    charged: { amount: '3.20', currency: 'USD' },
  };
}

function ulid(kind: keyof typeof ID_PREFIXES): string {
  return `${ID_PREFIXES[kind]}_01JQ8Z5YV7N4M2K3H6T9R0WXCD`;
}
