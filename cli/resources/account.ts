import { file, list, object, type ListDefinition, type ResourceDefinition } from '#cli/resources/definition.ts';
import { flexible, money, status, text, time } from '#cli/terminal/columns.ts';

export const WALLET: ResourceDefinition = {
  command: 'wallet',
  about: 'the wallet at the service, and its movements',
  commands: {
    show: object('getWallet'),
    runway: object('getWalletRunway'),
    export: file('exportWalletTransactions', {
      examples: [['--created-after 30d --output journal.csv', 'the journal of 30 days, whole']],
    }),
    transactions: list(
      'listWalletTransactions',
      {
        id: text((movement) => movement.id),
        direction: text((movement) => movement.direction),
        amount: money((movement) => movement.amount),
        cause: text((movement) => movement.cause?.kind),
        subject_id: text((movement) => movement.subject_id),
        service_id: text((movement) => movement.service?.id),
        service_order_id: text((movement) => movement.service?.service_order_id),
        occurred_at: time((movement) => movement.service?.occurred_at),
      },
      {
        examples: [['--created-after 7d --limit 1000 --csv', 'those of a week, for a spreadsheet']],
        none:
          'Nothing was found among the movements that comparisons of the books have read. ' +
          '`npx reseller reconcile` reads those since then.',
      },
    ),
  },
};

export const SALES: ResourceDefinition = {
  command: 'sales',
  about: 'what was sold: numbers, cost, revenue and margin',
  commands: {
    show: list(
      'getSales',
      {
        day: text((sum) => sum.day),
        kind: text((sum) => sum.kind),
        package_id: text((sum) => sum.package_id),
        vpn_plan_id: text((sum) => sum.vpn_plan_id),
        country: text((sum) => sum.country),
        sold: text((sum) => sum.sold),
        cost: money((sum) => sum.cost),
        refunds: text((sum) => sum.refunds),
        refunded: money((sum) => sum.refunded),
        revenue: money((sum) => sum.revenue),
        unpriced: text((sum) => sum.unpriced),
        margin: money((sum) => sum.margin),
      },
      { examples: [['--from-day 2030-01-01 --to-day 2030-01-31 --group-by day', 'those of January, by day']] },
    ),
    export: file('exportSales', {
      examples: [
        ['--from-day 2030-01-01 --to-day 2030-01-31 --group-by package --output sales.csv', 'those of January'],
      ],
    }),
  },
};

export const REFUNDS: ResourceDefinition = {
  command: 'refunds',
  about: 'refunds of cancelled eSIMs',
  commands: {
    list: list('listRefunds', {
      id: text((refund) => refund.id),
      status: status((refund) => refund.status),
      cancellation_id: text((refund) => refund.cancellation_id),
      esim_id: text((refund) => refund.esim_id),
      amount: money((refund) => refund.amount),
      created_at: time((refund) => refund.created_at),
      completed_at: time((refund) => refund.completed_at),
    }),
    show: object('getRefund'),
  },
};

export const CASES: ResourceDefinition = {
  command: 'cases',
  about: 'cases that need a person, oldest first',
  commands: {
    list: list(
      'listCases',
      {
        id: text((each) => each.id),
        reason: text((each) => each.reason),
        subject_id: text((each) => each.subject_id),
        work_status: status((each) => each.work_status),
        verdicts: text((each) => each.verdicts.join(' ')),
        opened_at: time((each) => each.opened_at),
        detail: flexible((each) => each.detail),
      },
      { examples: [['--work-ended true', 'those about ended work, which the Temporal UI does not show']] },
    ),
    show: object('getCase'),
    dismiss: object('dismissCase'),
  },
};

export const EVENTS: ResourceDefinition = {
  command: 'events',
  about: 'what has happened: the feed of events, and events as they happen',
  commands: {
    list: list(
      'listEvents',
      {
        created_at: time((event) => event.created_at),
        type: text((event) => event.type),
        subject_id: text((event) => event.subject.id),
        id: text((event) => event.id),
      },
      {
        about: 'List events, oldest first',
        examples: [['--type "order.*" --created-after 1h', 'those of orders within the last hour']],
      },
    ),
    show: object('getEvent'),
  },
};

export const WEBHOOK_ENDPOINTS: ResourceDefinition = {
  command: 'webhook-endpoints',
  about: 'addresses of internal systems that events are sent to, and their deliveries',
  commands: {
    list: list('listWebhookEndpoints', {
      id: text((endpoint) => endpoint.id),
      status: status((endpoint) => endpoint.status),
      disabled_reason: text((endpoint) => endpoint.disabled_reason),
      url: flexible((endpoint) => endpoint.url),
      event_types: flexible((endpoint) => endpoint.event_types.join(' ')),
      failures: text((endpoint) => (endpoint.failures === 0 ? null : endpoint.failures)),
      failing_since: time((endpoint) => endpoint.failing_since),
      pending: text((endpoint) => (endpoint.pending_deliveries === 0 ? null : endpoint.pending_deliveries)),
      last_failure: flexible((endpoint) => endpoint.last_failure),
      missed_since: time((endpoint) => endpoint.missed_since),
    }),
    show: object('getWebhookEndpoint'),
    create: object('createWebhookEndpoint', {
      about: 'Create an endpoint. Its secret is printed only this once',
      examples: [['--url https://shop.example.com/hook --event-types "order.*"', 'sends all events of orders there']],
    }),
    test: object('testWebhookEndpoint'),
    deliveries: list(
      'listWebhookDeliveries',
      {
        id: text((delivery) => delivery.id),
        status: status((delivery) => delivery.status),
        event_type: text((delivery) => delivery.event_type),
        event_id: text((delivery) => delivery.event_id),
        tries: text((delivery) => delivery.tries),
        last_try_at: time(({ log }) => log.at(-1)?.at),
        last_result: text(({ log }) => log.at(-1)?.status ?? log.at(-1)?.failure),
        last_duration_ms: text(({ log }) => log.at(-1)?.duration_ms),
        last_answer: flexible(({ log }) => log.at(-1)?.answer_excerpt),
        next_try_at: time((delivery) => delivery.next_try_at),
      },
      { about: 'List deliveries, newest first, each with its last try. JSON contains all tries' },
    ),
  },
};

export const AUDIT: ListDefinition = list(
  'listAuditLog',
  {
    created_at: time((entry) => entry.created_at),
    actor: text(({ actor, api_key: key }) => (key === null ? actor : `${key.name} (${key.prefix})`)),
    action: text((entry) => entry.action),
    subject: text(({ subject_kind: kind, subject_id: id }) =>
      kind === 'webhook_secret' ? `webhook secret of the ${id}` : id,
    ),
    reason: flexible((entry) => entry.reason),
  },
  {
    about:
      'the audit log, newest first: revealed activation data, operator actions, changes of keys, secrets and pauses',
    examples: [
      ['--created-after 24h', 'the entries of the last day'],
      ['--subject-id ord_…', 'the entries about one order'],
    ],
  },
);
