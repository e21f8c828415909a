/** A document of the project that the documentation site shows. */
export interface Guide {
  /** The last part of its address, `/docs/guides/<name>`. */
  readonly name: string;
  readonly title: string;
  /** Path of its Markdown, relative to the project. */
  readonly file: string;
  /** The heading of the only section that is shown. */
  readonly section?: string;
}

const RULES = 'docs/reference/api.md';

/** The guides of the site by group, in the order in which a new integrator needs them. */
export const GUIDE_GROUPS: Readonly<Record<string, readonly Guide[]>> = {
  'Get started': [
    { name: 'first-order', title: 'Your first order', file: 'docs/tutorial/first-order.md' },
    { name: 'typescript', title: 'TypeScript client', file: 'clients/typescript/README.md' },
    { name: 'python', title: 'Python client', file: 'clients/python/README.md' },
    { name: 'command-line', title: 'The reseller command', file: 'docs/reference/command-line.md' },
    { name: 'testing', title: 'Test your integration', file: 'docs/how-to/test-your-integration.md' },
    { name: 'simulator', title: 'The simulator', file: 'docs/simulator.md' },
  ],
  Sell: [
    { name: 'top-ups', title: 'Top-ups', file: RULES, section: 'Recharging an eSIM' },
    { name: 'cancellations', title: 'Cancellations and refunds', file: RULES, section: 'Cancellations and refunds' },
    { name: 'vpn', title: 'VPN subscriptions', file: RULES, section: 'VPN subscriptions' },
    { name: 'files', title: 'Files and sales', file: 'docs/how-to/export-and-sales.md' },
  ],
  Build: [
    { name: 'retries', title: 'Retries and idempotency', file: 'docs/how-to/retries-and-idempotency.md' },
    { name: 'batches', title: 'Many eSIMs at once', file: 'docs/how-to/order-a-batch.md' },
    { name: 'customers', title: "A customer's question", file: 'docs/how-to/answer-a-customer.md' },
    { name: 'errors', title: 'Errors', file: 'docs/reference/errors.md' },
    { name: 'webhooks', title: 'Webhooks', file: 'docs/how-to/webhooks-out.md' },
    { name: 'events', title: 'Events', file: 'docs/reference/events.md' },
    { name: 'share-links', title: 'Share links', file: 'docs/how-to/share-links.md' },
    { name: 'pricing', title: 'Pricing', file: 'docs/how-to/pricing.md' },
    { name: 'rules', title: 'All rules of the API', file: RULES },
  ],
  Operate: [
    { name: 'going-live', title: 'Going live', file: 'docs/how-to/going-live.md' },
    { name: 'operating', title: 'Operate orders', file: 'docs/how-to/operate-orders.md' },
    { name: 'night-questions', title: 'Questions of the night', file: 'docs/how-to/answer-the-night-questions.md' },
    { name: 'versions', title: 'Versions and deprecation', file: 'docs/reference/versions.md' },
  ],
};

export const GUIDES: readonly Guide[] = Object.values(GUIDE_GROUPS).flat();
