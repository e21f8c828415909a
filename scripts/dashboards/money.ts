import { chart, dashboard, number, perSecond } from '#scripts/dashboards/panels.ts';

const PURCHASES = '{endpoint=~"createOrder|createTopup|createVpnOrder"}';

export const money = dashboard(
  'money',
  'money',
  'The wallet, the purchase gate, and the comparison of our books with the wallet of the service.',
  [
    number(
      'Debited twice',
      'Purchases with more than one debit. This must be 0: call the service, and see DebitedTwice in the runbook.',
      'short',
      'max(reseller_cases_open{reason="debited_twice"}) or vector(0)',
      1,
    ),
    number(
      'Findings of the books',
      'Differences that the newest comparison found. `reseller reconcile` compares again and lists them.',
      'short',
      'sum(max by (kind) (reseller_books_findings)) or vector(0)',
      1,
    ),
    number(
      'Age of the comparison',
      'Time since the books were compared successfully. See BooksStale in the runbook.',
      's',
      'max(reseller_books_age_seconds)',
      3600,
    ),
    number(
      'Wallet lasts for',
      'Time until the wallet is empty at the rate of recent sales; no value while it is unknown.',
      's',
      // An API process does not read this gauge, and shows 0.
      'max(reseller_wallet_runway_seconds{job="reseller-worker"})',
    ),
    number('Wallet is low', '1: the balance is below `wallet.low_balance`.', 'short', 'max(reseller_wallet_low)', 1),
    number(
      'Stopped for paid deliveries',
      '1: a product is held, or one purchase goes first. 2: a whole kind is stopped. `reseller gate show` says why.',
      'short',
      'max(reseller_drift_stop)',
      1,
    ),
    number(
      'Pauses of buying',
      'Pauses in force. `reseller gate show` says who made them and why.',
      'short',
      'max(reseller_gate_pauses)',
      1,
    ),
    chart('Wallet', 'For display only. Available: the balance of the last reading, less reserved amounts.', 'locale', {
      'available {{currency}}': 'max by (currency) (reseller_wallet_available)',
      'balance {{currency}}': 'max by (currency) (reseller_wallet_balance)',
    }),
    chart('Held at the gate', 'Purchases by the cause of the hold.', 'short', {
      '{{failure_class}}': 'sum by (failure_class) (max by (failure_class, barrier) (reseller_gate_held))',
    }),
    chart('Open circuits', '1 while purchases are stopped for that reason.', 'short', {
      '{{circuit}}': 'max by (circuit) (reseller_circuit_open)',
    }),
    chart('Findings by kind', 'docs/how-to/reconcile.md explains each kind.', 'short', {
      '{{kind}}': 'max by (kind) (reseller_books_findings)',
    }),
    chart(
      'Purchases by outcome',
      'Calls that can cost money, by outcome. Each is sent with its idempotency key.',
      'cps',
      { '{{endpoint}} {{outcome}}': perSecond('reseller_upstream_calls_total', 'endpoint, outcome', PURCHASES) },
    ),
  ],
);
