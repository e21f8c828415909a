/** One table for each list of the overview. */
import { element, stateName, table } from './dom.js';

/**
 * @typedef {(path: string, body?: unknown, method?: string) => Promise<void>} Act calls the admin API and shows the result
 * @typedef {Record<string, any>} Row an object of the admin API
 */

/**
 * @param {string} text
 * @param {() => Promise<void>} work
 */
const button = (text, work) => element('button', { type: 'button', onclick: () => void work() }, text);
/** @param {Row} row */
const money = (row) => `${row.price_for_reseller ?? row.amount} ${row.currency}`;
/** @param {string | null} iso */
const time = (iso) => (iso === null ? '–' : iso.slice(0, 19).replace('T', ' '));
/** @param {...Node} nodes */
const cell = (...nodes) => element('span', {}, ...nodes);

/**
 * @param {string} path of the sale or refund
 * @param {boolean} processing
 * @param {Act} act
 */
function endings(path, processing, act) {
  if (!processing) return '';
  return cell(
    button('Complete', () => act(`${path}/complete`)),
    button('Fail', () => act(`${path}/fail`)),
  );
}

/** @type {Record<string, { headings: string[], cells: (row: Row, act: Act) => (Node | string)[] }>} */
export const TABLES = {
  faults: {
    headings: ['Target', 'Of', 'Fault', 'Chance', 'Times', 'Hits', 'Fired', ''],
    cells: (row, act) => [
      row.target + (row.profile ? ' (random)' : ''),
      row.endpoint ?? row.event ?? 'any',
      row.fault.kind,
      String(row.probability),
      String(row.count ?? '∞'),
      String(row.hits),
      String(row.fired),
      button('Remove', () => act(`/faults/${row.id}`, undefined, 'DELETE')),
    ],
  },
  behaviour: {
    headings: ['Operation', 'Outcome', 'Times', 'Used', ''],
    cells: (row, act) => [
      row.operation ?? 'any purchase',
      row.outcome,
      String(row.count ?? '∞'),
      String(row.used),
      button('Remove', () => act(`/behaviour/${row.id}`, undefined, 'DELETE')),
    ],
  },
  orders: {
    headings: ['Environment', 'Id', 'Reference', 'Package', 'Status', 'eSIM', 'Price', 'Created', ''],
    cells: (row, act) => [
      row.environment,
      row.id,
      row.external_order_id,
      String(row.package_id),
      stateName(row.status),
      row.esim_id ?? '–',
      money(row),
      time(row.created_at),
      endings(`/orders/${row.id}`, row.status === 'processing', act),
    ],
  },
  esims: {
    headings: ['Environment', 'Id', 'ICCID', 'Package', 'State', 'Used', 'Phone'],
    cells: (row, act) => [
      row.environment,
      row.id,
      row.iccid,
      String(row.package_id),
      stateName(row.status),
      `${row.data_used_mb} of ${row.data_total_mb ?? '∞'} MB`,
      cell(
        button('Install', () => act(`/esims/${row.id}/state`, { state: 'installed' })),
        button('Activate', () => act(`/esims/${row.id}/state`, { state: 'active' })),
        button('Use up', () => act(`/esims/${row.id}/state`, { state: 'consumed' })),
      ),
    ],
  },
  topups: {
    headings: ['Environment', 'Id', 'eSIM', 'Package', 'Status', 'Price', 'Created', ''],
    cells: (row, act) => [
      row.environment,
      row.id,
      row.esim_id,
      String(row.package_id),
      stateName(row.status),
      money(row),
      time(row.created_at),
      endings(`/topups/${row.id}`, row.status === 'processing', act),
    ],
  },
  refunds: {
    headings: ['Environment', 'Id', 'eSIM', 'Cancellation', 'Review', 'Refund', 'Amount', 'Not confirmed', ''],
    cells: (row, act) => [
      row.environment,
      row.id,
      row.esim_id,
      stateName(row.cancellation),
      stateName(row.review),
      stateName(row.status),
      money(row),
      row.unmet_conditions.join(', ') || '–',
      refundEndings(row, act),
    ],
  },
  vpn_subscriptions: {
    headings: ['Environment', 'Id', 'Reference', 'Plan', 'Status', 'Price', 'Expires', ''],
    cells: (row, act) => [
      row.environment,
      row.id,
      row.external_subscription_id,
      String(row.vpn_plan_id),
      stateName(row.status),
      money(row),
      time(row.expires_at),
      row.status === 'active'
        ? cell(
            button('Expire', () => act(`/vpn-subscriptions/${row.id}/expire`)),
            button('Cancel', () => act(`/vpn-subscriptions/${row.id}/cancel`)),
          )
        : endings(`/vpn-subscriptions/${row.id}`, row.status === 'processing', act),
    ],
  },
  deliveries: {
    headings: ['Environment', 'Event', 'About', 'Status', 'Attempts', 'Created', 'Body', ''],
    cells: (row, act) => [
      row.environment,
      row.event,
      row.subject ?? '–',
      stateName(row.status),
      row.attempts.map((/** @type {Row} */ attempt) => attempt.status ?? attempt.error).join(', ') || '–',
      time(row.created_at),
      element('details', {}, element('summary', {}, row.id), element('pre', {}, row.body)),
      button('Replay', () => act(`/deliveries/${row.id}/replay`)),
    ],
  },
  ledger: {
    headings: ['Environment', 'Movement', 'Amount', 'Balance after', 'Reason', 'About', 'Time'],
    cells: (row) => [
      row.environment,
      row.type,
      money(row),
      row.balance_after,
      row.reason,
      row.refund_id ?? row.topup_id ?? row.vpn_subscription_id ?? row.order_id ?? '–',
      time(row.created_at),
    ],
  },
  requests: {
    headings: ['Environment', 'Call', 'Key', 'Work', 'Answer', 'Faults', 'Time'],
    cells: (row) => [
      row.environment,
      `${row.method} ${row.endpoint ?? row.path}`,
      row.idempotency_key ?? '–',
      String(row.result_status ?? '–'),
      String(row.status ?? 'none'),
      row.faults.join(', ') || '–',
      time(row.received_at),
    ],
  },
};

/**
 * @param {Row} row
 * @param {Act} act
 */
function refundEndings(row, act) {
  const path = `/refunds/${row.id}`;
  if (row.cancellation === 'processing') {
    return cell(
      button('Accept', () => act(`${path}/accept`)),
      button('Refuse', () => act(`${path}/refuse`)),
    );
  }
  return endings(path, row.cancellation === 'cancelled' && row.status === 'processing', act);
}

/**
 * @param {string} name
 * @param {readonly Row[]} rows
 * @param {Act} act
 */
export function tableOf(name, rows, act) {
  const { headings, cells } = TABLES[name];
  return table(
    headings,
    rows.map((row) => cells(row, act)),
  );
}
