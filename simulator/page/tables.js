/** One table for each list of the overview. */
import { element, stateName, table } from './dom.js';

/**
 * @typedef {(path: string, body?: unknown, method?: string) => Promise<void>} Act calls the admin API and shows the result
 * @typedef {Record<string, any>} Row an object of the admin API
 * @typedef {[heading: string, cell: (row: Row, act: Act) => Node | string]} Column
 */

/** @param {Row} row */
const money = (row) => `${row.price_for_reseller ?? row.amount} ${row.currency}`;
/** @type {(heading: string, ...fields: string[]) => Column} the first field that is not null */
const of = (heading, ...fields) => [
  heading,
  (row) => String(fields.map((field) => row[field]).find((value) => value != null) ?? '–'),
];
/** @type {(heading: string, field: string) => Column} */
const state = (heading, field) => [heading, (row) => stateName(row[field])];
/** @type {(heading: string, field: string) => Column} */
const time = (heading, field) => [heading, (row) => row[field]?.slice(0, 19).replace('T', ' ') ?? '–'];
/** @type {(heading: string, textsOf: (row: Row) => string[]) => Column} */
const list = (heading, textsOf) => [heading, (row) => textsOf(row).join(', ') || '–'];

/** @type {(heading: string, buttonsOf: (row: Row) => [text: string, path: string, body?: unknown, method?: string][]) => Column} */
const actions = (heading, buttonsOf) => [
  heading,
  (row, act) =>
    element(
      'span',
      {},
      ...buttonsOf(row).map(([text, ...call]) =>
        element('button', { type: 'button', onclick: () => void act(...call) }, text),
      ),
    ),
];
/** @type {(path: string) => Column} */
const remove = (path) => actions('', ({ id }) => [['Remove', `${path}/${id}`, undefined, 'DELETE']]);
/** @type {(path: string, ...names: string[]) => [string, string][]} */
const ends = (path, ...names) => names.map((name) => [name, `${path}/${name.toLowerCase()}`]);
/** @type {(path: string) => Column} */
const endings = (path) =>
  actions('', ({ id, status }) => (status === 'processing' ? ends(`${path}/${id}`, 'Complete', 'Fail') : []));

/** @param {Row} row */
function refundEndings({ id, cancellation, status }) {
  if (cancellation === 'processing') return ends(`/refunds/${id}`, 'Accept', 'Refuse');
  return cancellation === 'cancelled' && status === 'processing' ? ends(`/refunds/${id}`, 'Complete', 'Fail') : [];
}

/** @param {Row} row */
function subscriptionEndings({ id, status }) {
  const names = status === 'active' ? ['Expire', 'Cancel'] : status === 'processing' ? ['Complete', 'Fail'] : [];
  return ends(`/vpn-subscriptions/${id}`, ...names);
}

const ENVIRONMENT = of('Environment', 'environment');
const ID = of('Id', 'id');
const ESIM = of('eSIM', 'esim_id');
const PACKAGE = of('Package', 'package_id');
const STATUS = state('Status', 'status');
const CREATED = time('Created', 'created_at');
/** @type {Column} */
const PRICE = ['Price', money];
/** @type {Column} */
const TIMES = ['Times', (row) => String(row.count ?? '∞')];

/** @type {Record<string, Column[]>} */
export const TABLES = {
  faults: [
    ['Target', (row) => row.target + (row.profile ? ' (random)' : '')],
    ['Of', (row) => row.endpoint ?? row.event ?? 'any'],
    ['Fault', (row) => row.fault.kind],
    of('Chance', 'probability'),
    TIMES,
    of('Hits', 'hits'),
    of('Fired', 'fired'),
    remove('/faults'),
  ],
  behaviour: [
    ['Operation', (row) => row.operation ?? 'any purchase'],
    of('Outcome', 'outcome'),
    TIMES,
    of('Used', 'used'),
    remove('/behaviour'),
  ],
  orders: [
    ENVIRONMENT,
    ID,
    of('Reference', 'external_order_id'),
    PACKAGE,
    STATUS,
    ESIM,
    PRICE,
    CREATED,
    endings('/orders'),
  ],
  esims: [
    ENVIRONMENT,
    ID,
    of('ICCID', 'iccid'),
    PACKAGE,
    state('State', 'status'),
    ['Used', (row) => `${row.data_used_mb} of ${row.data_total_mb ?? '∞'} MB`],
    actions('Phone', ({ id }) => [
      ['Install', `/esims/${id}/state`, { state: 'installed' }],
      ['Activate', `/esims/${id}/state`, { state: 'active' }],
      ['Use up', `/esims/${id}/state`, { state: 'consumed' }],
    ]),
  ],
  topups: [ENVIRONMENT, ID, ESIM, PACKAGE, STATUS, PRICE, CREATED, endings('/topups')],
  refunds: [
    ENVIRONMENT,
    ID,
    ESIM,
    state('Cancellation', 'cancellation'),
    state('Review', 'review'),
    state('Refund', 'status'),
    ['Amount', money],
    list('Not confirmed', (row) => row.unmet_conditions),
    actions('', refundEndings),
  ],
  vpn_subscriptions: [
    ENVIRONMENT,
    ID,
    of('Reference', 'external_subscription_id'),
    of('Plan', 'vpn_plan_id'),
    STATUS,
    PRICE,
    time('Expires', 'expires_at'),
    actions('', subscriptionEndings),
  ],
  deliveries: [
    ENVIRONMENT,
    of('Event', 'event'),
    of('About', 'subject'),
    STATUS,
    list('Attempts', (row) => row.attempts.map((/** @type {Row} */ attempt) => attempt.status ?? attempt.error)),
    CREATED,
    ['Body', (row) => element('details', {}, element('summary', {}, row.id), element('pre', {}, row.body))],
    actions('', ({ id }) => [['Replay', `/deliveries/${id}/replay`]]),
  ],
  ledger: [
    ENVIRONMENT,
    of('Movement', 'type'),
    ['Amount', money],
    of('Balance after', 'balance_after'),
    of('Reason', 'reason'),
    of('About', 'refund_id', 'topup_id', 'vpn_subscription_id', 'order_id'),
    time('Time', 'created_at'),
  ],
  requests: [
    ENVIRONMENT,
    ['Call', (row) => `${row.method} ${row.endpoint ?? row.path}`],
    of('Key', 'idempotency_key'),
    of('Work', 'result_status'),
    ['Answer', (row) => String(row.status ?? 'none')],
    list('Faults', (row) => row.faults),
    time('Time', 'received_at'),
  ],
};

/**
 * @param {string} name
 * @param {readonly Row[]} rows
 * @param {Act} act
 */
export function tableOf(name, rows, act) {
  const columns = TABLES[name];
  return table(
    columns.map(([heading]) => heading),
    rows.map((row) => columns.map(([, cell]) => cell(row, act))),
  );
}
