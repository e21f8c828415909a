/** With the beginnings of the paths of their operations, in the order in which a new reader needs them. */
export const TAGS: Readonly<Record<string, { readonly description: string; readonly paths: readonly string[] }>> = {
  Orders: {
    description: 'Buy an eSIM package, follow the order to its delivery, and read its timeline.',
    paths: ['/v1/orders', '/v1/order-batches'],
  },
  eSIMs: {
    description: 'Delivered eSIMs: installation facts, activation code, QR codes, usage and top-up options.',
    paths: ['/v1/esims', '/v1/share-links', '/e/'],
  },
  'Top-ups': { description: 'Recharge a delivered eSIM.', paths: ['/v1/topups'] },
  Cancellations: {
    description: 'Cancel an eSIM and get a refund if its five conditions are met.',
    paths: ['/v1/cancellations', '/v1/refunds'],
  },
  VPN: { description: 'VPN plans and subscriptions, from the order to the end.', paths: ['/v1/vpn/'] },
  Packages: { description: 'Packages of the service and their prices.', paths: ['/v1/packages', '/v1/quotes'] },
  Pricing: {
    description: 'Your rules that suggest selling prices, and trials of other rules.',
    paths: ['/v1/pricing/'],
  },
  Wallet: {
    description: 'The balance at the service, our journal with the movements of the wallet, and their comparisons.',
    paths: ['/v1/wallet'],
  },
  Sales: {
    description: 'What was sold: numbers, cost, revenue and margin by day, kind, package and country.',
    paths: ['/v1/sales'],
  },
  Events: { description: 'Events, as pages in a stable order and as a stream.', paths: ['/v1/events'] },
  'Webhook endpoints': {
    description: 'Events sent to your own addresses, signed by Standard Webhooks: filters, log, replay, rotation.',
    paths: ['/v1/webhook-endpoints'],
  },
  Updates: { description: 'The check for updates of the storefront application.', paths: ['/v1/updates/'] },
  'Operator actions': {
    description:
      'For operators: retry, release, abandon or resolve work that waits, one or many. Each action is audited.',
    paths: ['/v1/cases', '/v1/dead-letters'],
  },
  'Purchase gate': {
    description: 'Why purchases are held now, and pauses by operators.',
    paths: ['/v1/purchase-gate'],
  },
  Administration: {
    description: 'Your API key, the audit log, and the webhook secret at the service.',
    paths: ['/v1/key', '/v1/audit-log', '/v1/service/'],
  },
  'Inbound webhooks': { description: 'Receives the signed webhooks of the service.', paths: ['/webhooks/'] },
  'Operation of this API': { description: 'Probes and metrics.', paths: ['/healthz', '/readyz', '/metrics'] },
  Documentation: {
    description: 'This description, a page with a client for it, and a page for each problem.',
    paths: ['/openapi.json', '/docs', '/problems/', '/robots.txt'],
  },
};

/** Of an operation whose definition names none. */
export function tagOf(path: string): string {
  const found = Object.entries(TAGS).find(([, { paths }]) => paths.some((start) => path.startsWith(start)));
  if (found === undefined) throw new TypeError(`no tag in tags.ts has the path ${path}`);
  return found[0];
}
