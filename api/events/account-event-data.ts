/** The content of `data` of events about the account: its wallet and its webhook endpoints. */
import * as z from 'zod';
import { variant } from '#api/events/event-variant.ts';
import { instant } from '#api/fields/instant.ts';
import { meaningsOf } from '#api/fields/meanings.ts';
import { money } from '#api/fields/money.ts';
import { DISABLED_REASONS } from '#domain/events/webhook-delivery.ts';

const DAY_SHARES = 'Days, to one decimal place.';

export const walletBalanceEvent = variant(
  'WalletBalanceEvent',
  'wallet',
  ['wallet.balance_low', 'wallet.balance_restored'],
  {
    balance: money.meta({ description: 'Balance of the wallet when it was read.' }),
    threshold: money.nullable().meta({
      description: 'The threshold (`wallet.low_balance`); null when it was removed, which ends the state.',
    }),
  },
);

export const walletRunwayEvent = variant(
  'WalletRunwayEvent',
  'wallet',
  ['wallet.runway_low', 'wallet.runway_restored'],
  {
    days: z
      .number()
      .min(0)
      .meta({ description: `Time that the wallet lasts at the mean of recent sales. ${DAY_SHARES}`, example: 2.6 }),
    earliest_days: z
      .number()
      .min(0)
      .meta({ description: `The same with sales one standard deviation above the mean. ${DAY_SHARES}`, example: 2.1 }),
    latest_days: z
      .number()
      .min(0)
      .meta({ description: `The same with sales one standard deviation below the mean. ${DAY_SHARES}`, example: 3.2 }),
    threshold_days: z
      .number()
      .min(0)
      .meta({ description: `The threshold (\`wallet.runway_low\`). ${DAY_SHARES}`, example: 3 }),
    available: money.meta({ description: 'The balance less what is reserved and held; may be below zero.' }),
    daily_sales: money.meta({ description: 'Mean sales in 24 hours.' }),
  },
);

const { request: _request, ...DISABLED_BY_US } = DISABLED_REASONS;
type DisabledByUs = keyof typeof DISABLED_BY_US;

export const webhookEndpointDisabledEvent = variant(
  'WebhookEndpointDisabledEvent',
  'webhook_endpoint',
  ['webhook_endpoint.disabled'],
  {
    reason: z.enum(Object.keys(DISABLED_BY_US) as [DisabledByUs, ...DisabledByUs[]]).meta({
      description: meaningsOf(DISABLED_BY_US),
    }),
    detail: z.string().meta({ description: 'Result of the last try, as text.' }),
    failing_since: instant
      .nullable()
      .meta({ description: 'Time of the first of the failed tries in a row. RFC 3339.' }),
  },
);

export const webhookEndpointTestEvent = variant(
  'WebhookEndpointTestEvent',
  'webhook_endpoint',
  ['webhook_endpoint.test'],
  {
    message: z.string().meta({ description: 'A human-readable sentence.' }),
  },
);
