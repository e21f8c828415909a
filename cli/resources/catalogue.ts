import { file, list, object, type ResourceDefinition } from '#cli/resources/definition.ts';
import { flexible, money, status, text, time } from '#cli/terminal/columns.ts';
import type { PricingRule } from '#clients/typescript/src/index.ts';

export const ESIMS: ResourceDefinition = {
  command: 'esims',
  about: 'delivered eSIMs',
  commands: {
    list: list('listEsims', {
      id: text((esim) => esim.id),
      status: status((esim) => esim.status),
      iccid: text((esim) => esim.iccid),
      external_order_id: flexible((esim) => esim.external_order_id),
      package_id: text((esim) => esim.package_id),
      installed_at: time((esim) => esim.installed_at),
      expires_at: time((esim) => esim.expires_at),
      created_at: time((esim) => esim.created_at),
    }),
    show: object('getEsim'),
    update: object('updateEsim', {
      examples: [['esim_… --customer-reference C-2207', 'the eSIM now belongs to this customer']],
    }),
    simulate: object('simulateEsim', { examples: [['esim_… --state installed', 'as if a phone had installed it']] }),
    usage: object('getEsimUsage'),
    activation: object('getEsimActivation', {
      about: 'Read what the customer needs to install it. The read is recorded in the audit log',
    }),
    qr: file('getEsimQrPng', {
      about: 'Write the QR code as a PNG image. The read is recorded in the audit log',
      examples: [['esim_… --output code.png', 'an image to send to the customer']],
    }),
    cancel: object('cancelEsim', {
      about: 'Cancel an eSIM if a refund is expected. Follow it with cancellations show',
      examples: [
        ['esim_… --reason "The customer travels later." --wait 20', 'cancels an eSIM if a refund is expected'],
      ],
    }),
    'topup-options': list('listTopupOptions', {
      id: text((option) => option.id),
      name: flexible((option) => option.name),
      data_mb: text((option) => option.data_mb),
      validity_days: text((option) => option.validity_days),
      price_for_reseller: money((option) => option.price_for_reseller),
      suggested_price: money((option) => option.suggested_price),
      available: text((option) => option.available),
    }),
    share: object('createShareLink', {
      about: 'Make a link with which the customer installs the eSIM. The link is printed only this once',
      examples: [['esim_… --expires-in-seconds 86400 --language de', 'a link for one day, with a page in German']],
    }),
    'share-links': list('listShareLinks', {
      id: text((link) => link.id),
      status: status((link) => link.status),
      label: flexible((link) => link.label),
      language: text((link) => link.language),
      views: text((link) => link.views),
      last_viewed_at: time((link) => link.last_viewed_at),
      expires_at: time((link) => link.expires_at),
      created_at: time((link) => link.created_at),
    }),
  },
};

export const BATCHES: ResourceDefinition = {
  command: 'batches',
  about: 'batches: up to 1,000 eSIMs ordered at once; list their orders with orders list --batch-id',
  commands: {
    list: list('listOrderBatches', {
      id: text((batch) => batch.id),
      status: status((batch) => batch.status),
      external_batch_id: flexible((batch) => batch.external_batch_id),
      size: text((batch) => batch.size),
      completed: text(({ counts }) => counts.completed),
      open: text(({ size, counts }) => size - counts.completed - counts.failed - counts.abandoned),
      created_at: time((batch) => batch.created_at),
      completed_at: time((batch) => batch.completed_at),
      cancel_requested_at: time((batch) => batch.cancel_requested_at),
    }),
    show: object('getOrderBatch'),
    create: object('createOrderBatch', {
      examples: [
        [
          '--external-batch-id campaign-1 --items \'[{"package_id": 1001, "quantity": 20}]\'',
          'orders 20 eSIMs, all or none',
        ],
      ],
    }),
    cancel: object('cancelOrderBatch', {
      examples: [['bat_… --reason "The trip is off."', 'abandons the orders that have bought nothing']],
    }),
    'qr-archive': file('getOrderBatchQrArchive', {
      about: 'Write the QR codes as a ZIP archive of PNG images. The read is recorded in the audit log',
      examples: [['bat_… --output codes.zip', 'an archive with an image for each eSIM']],
    }),
    'qr-sheet': file('getOrderBatchQrSheet', {
      about: 'Write the QR codes as sheets to print, PDF. The read is recorded in the audit log',
      examples: [['bat_… --output codes.pdf', 'a document to print']],
    }),
  },
};

export const SHARE_LINKS: ResourceDefinition = {
  command: 'share-links',
  about: 'links with which customers install eSIMs',
  commands: {
    list: list(
      'listAllShareLinks',
      {
        id: text((link) => link.id),
        status: status((link) => link.status),
        esim_id: text((link) => link.esim_id),
        label: flexible((link) => link.label),
        views: text((link) => link.views),
        created_by: text((link) => link.created_by),
        expires_at: time((link) => link.expires_at),
        created_at: time((link) => link.created_at),
      },
      { examples: [['--status active --created-by key_…', 'those that can be opened, of one API key']] },
    ),
    show: object('getShareLink'),
    revoke: object('revokeShareLink'),
  },
};

export const PACKAGES: ResourceDefinition = {
  command: 'packages',
  about: 'eSIM packages that the service sells, with prices',
  commands: {
    list: list(
      'listPackages',
      {
        id: text((each) => each.id),
        name: flexible((each) => each.name),
        countries: flexible((each) => each.countries.join(' ')),
        data_mb: text((each) => (each.unlimited === true ? 'unlimited' : each.data_mb)),
        validity_days: text((each) => each.validity_days),
        price_for_reseller: money((each) => each.price_for_reseller),
        suggested_price: money((each) => each.suggested_price),
        available: text((each) => each.available),
      },
      {
        examples: [
          ['--country ES --sort price', 'packages for Spain, the cheapest first'],
          ['--available --max-price 5 --limit 10', 'ten that can be bought and cost at most 5'],
        ],
      },
    ),
    show: object('getPackage'),
  },
};

export const QUOTES: ResourceDefinition = {
  command: 'quotes',
  about: 'whether a purchase is possible, and its price; nothing is bought',
  commands: {
    create: object('createQuote', {
      examples: [
        ['--package-id 1001', 'the price of an order'],
        ['--package-id 1001 --esim-id esim_…', 'the price of a top-up'],
      ],
    }),
  },
};

export const PRICING: ResourceDefinition = {
  command: 'pricing',
  about: 'the rules that suggest selling prices',
  commands: {
    list: list('listPricingRules', {
      id: text((rule) => rule.id),
      target: text(({ target }) => target.kind),
      target_id: text(({ target }) => targetIdOf(target)),
      currency: text((rule) => rule.currency),
      margin: text(({ terms }) => `${terms.margin.percent}% + ${terms.margin.amount}`),
      minimum_margin: text(({ terms }) => `${terms.minimum_margin.percent}% + ${terms.minimum_margin.amount}`),
      minimum_price: text(({ terms }) => terms.minimum_price),
      rounding: text(({ terms: { rounding } }) =>
        rounding === null ? null : `${rounding.direction} to ${rounding.step} + ${rounding.ending}`,
      ),
      max_price_drift_percent: text(({ terms }) => terms.max_price_drift_percent),
      version: text((rule) => rule.version),
      updated_at: time((rule) => rule.updated_at),
      ended_at: time((rule) => rule.ended_at),
    }),
    show: object('getPricingRule'),
    versions: list('listPricingRuleVersions', {
      version: text((each) => each.version),
      change: text((each) => each.change),
      created_at: time((each) => each.created_at),
      changed_by: text((each) => each.changed_by),
      reason: flexible((each) => each.reason),
      margin: text(({ terms }) => `${terms.margin.percent}% + ${terms.margin.amount}`),
      minimum_margin: text(({ terms }) => `${terms.minimum_margin.percent}% + ${terms.minimum_margin.amount}`),
      minimum_price: text(({ terms }) => terms.minimum_price),
      max_price_drift_percent: text(({ terms }) => terms.max_price_drift_percent),
    }),
  },
};

function targetIdOf(target: PricingRule['target']): string | number | undefined {
  switch (target.kind) {
    case 'country':
      return target.country;
    case 'package':
      return target.package_id;
    case 'vpn_plan':
      return target.vpn_plan_id;
    case 'default':
      return undefined;
  }
}
