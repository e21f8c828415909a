/** Groups of calls in the description, in the order in which a new reader needs them. */
export const TAGS: Readonly<Record<string, string>> = {
  Orders: 'Buy an eSIM package, follow the order to its delivery, and read its timeline.',
  eSIMs: 'Delivered eSIMs: installation facts, activation code, QR codes, usage and top-up options.',
  'Top-ups': 'Recharge a delivered eSIM.',
  Cancellations: 'Cancel an eSIM and get a refund if its five conditions are met.',
  VPN: 'VPN plans and subscriptions, from the order to the end.',
  Packages: 'Packages of the service and their prices.',
  Pricing: 'Your rules that suggest selling prices, and trials of other rules.',
  Wallet: 'The balance at the service, our journal with the movements of the wallet, and their comparisons.',
  Sales: 'What was sold: numbers, cost, revenue and margin by day, kind, package and country.',
  Events: 'Events, as pages in a stable order and as a stream.',
  'Webhook endpoints':
    'Events sent to your own addresses, signed by Standard Webhooks: filters, log, replay, rotation.',
  Updates: 'The check for updates of the storefront application.',
  'Operator actions':
    'For operators: retry, release, abandon or resolve work that waits, one or many. Each action is audited.',
  'Purchase gate': 'Why purchases are held now, and pauses by operators.',
  Administration: 'Your API key, the audit log, and the webhook secret at the service.',
  'Inbound webhooks': 'Receives the signed webhooks of the service.',
  'Operation of this API': 'Probes and metrics.',
  Documentation: 'This description, a page with a client for it, and a page for each problem.',
};
