/** What the calls are grouped by in the description, in the order in which a newcomer needs them. */
export const TAGS: Readonly<Record<string, string>> = {
  Orders: 'Buy an eSIM package, follow it to its delivery, and read what happened on the way.',
  eSIMs: 'What was delivered: installation facts, activation code, QR codes, usage, and what it can be recharged with.',
  'Top-ups': 'Recharge a delivered eSIM.',
  Cancellations: 'Cancel an eSIM and get its money back where the five conditions of the refund hold.',
  VPN: 'VPN plans and subscriptions, from the order to the end.',
  Packages: 'What can be bought, and what the service charges for it.',
  Pricing: 'Rules of your own that suggest selling prices, and trying others before they are in force.',
  Wallet: 'The balance at the service, our journal beside its movements, and the comparisons of both.',
  Events: 'What has happened, as pages in a stable order and as a stream.',
  'Webhook endpoints':
    'Events sent to your own addresses, signed after Standard Webhooks: filters, log, replay, rotation.',
  Updates: 'The check for updates of the storefront application.',
  'Operator actions':
    'For operators: retry, release, abandon or resolve work that waits, one or many. Each action is audited.',
  'Purchase gate': 'Why purchases are held at present, and pausing them by hand.',
  Administration: 'Your API key, who did what, and the webhook secret at the service.',
  'Inbound webhooks': 'Where the service delivers its signed webhooks.',
  'Operation of this API': 'Probes and metrics.',
  Documentation: 'This description, the page to try it, and a page for each problem.',
};
