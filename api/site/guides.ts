import type { Operation } from '#api/http/operation.ts';
import { errorsPage } from '#api/site/errors-page.ts';
import { eventsPage } from '#api/site/events-page.ts';

/** A page of the documentation site. */
export interface Guide {
  /** The last part of its address, `/docs/guides/<name>`. */
  readonly name: string;
  readonly title: string;
  /** Path of its Markdown, or the Markdown itself. Paths and links are relative to the project. */
  readonly source: string | ((operations: readonly Operation[]) => string);
  /** The heading of the only section that is shown. */
  readonly section?: string;
}

const RULES = 'docs/reference/api.md';

/** The guides of the site by group, in the order in which a new integrator needs them. */
export const GUIDE_GROUPS: Readonly<Record<string, readonly Guide[]>> = {
  'Get started': [
    { name: 'first-order', title: 'Your first order', source: 'docs/tutorial/first-order.md' },
    { name: 'typescript', title: 'TypeScript client', source: 'clients/typescript/README.md' },
    { name: 'python', title: 'Python client', source: 'clients/python/README.md' },
    { name: 'command-line', title: 'The reseller command', source: 'docs/reference/command-line.md' },
    { name: 'testing', title: 'Test your integration', source: 'docs/how-to/test-your-integration.md' },
    { name: 'simulator', title: 'The simulator', source: 'docs/simulator.md' },
  ],
  Sell: [
    { name: 'top-ups', title: 'Top-ups', source: RULES, section: 'Recharging an eSIM' },
    { name: 'cancellations', title: 'Cancellations and refunds', source: RULES, section: 'Cancellations and refunds' },
    { name: 'vpn', title: 'VPN subscriptions', source: RULES, section: 'VPN subscriptions' },
    { name: 'files', title: 'Files and sales', source: 'docs/how-to/export-and-sales.md' },
  ],
  Build: [
    { name: 'retries', title: 'Retries and idempotency', source: 'docs/how-to/retries-and-idempotency.md' },
    { name: 'batches', title: 'Many eSIMs at once', source: 'docs/how-to/order-a-batch.md' },
    { name: 'customers', title: "A customer's question", source: 'docs/how-to/answer-a-customer.md' },
    { name: 'errors', title: 'Errors', source: errorsPage },
    { name: 'webhooks', title: 'Webhooks', source: 'docs/how-to/webhooks-out.md' },
    { name: 'events', title: 'Events', source: eventsPage },
    { name: 'share-links', title: 'Share links', source: 'docs/how-to/share-links.md' },
    { name: 'pricing', title: 'Pricing', source: 'docs/how-to/pricing.md' },
    { name: 'rules', title: 'All rules of the API', source: RULES },
  ],
  Operate: [
    { name: 'going-live', title: 'Going live', source: 'docs/how-to/going-live.md' },
    { name: 'operating', title: 'Operate orders', source: 'docs/how-to/operate-orders.md' },
    { name: 'night-questions', title: 'Questions of the night', source: 'docs/how-to/answer-the-night-questions.md' },
    { name: 'versions', title: 'Versions and deprecation', source: 'docs/reference/versions.md' },
  ],
};

export const GUIDES: readonly Guide[] = Object.values(GUIDE_GROUPS).flat();
