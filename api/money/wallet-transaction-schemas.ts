/** Wallet transactions and reports of reconciliations, as the API shows them. */
import * as z from 'zod';
import { esimIdInput, orderIdInput } from '#api/esims/esim-schemas.ts';
import { workKindField } from '#api/fields/ids.ts';
import { instant, timeInQuery } from '#api/fields/instant.ts';
import { money } from '#api/fields/money.ts';
import { amount, safe, text, type CsvColumns } from '#api/lists/csv-file.ts';
import { pageOf, pageQuery } from '#api/lists/page-schemas.ts';
import type { WalletLine } from '#db/money/journal-queries.ts';
import { CAUSE_KINDS, DIRECTIONS } from '#domain/money/books.ts';
import { plainAmount } from '#domain/money/money.ts';

export const direction = z
  .enum(DIRECTIONS)
  .meta({ description: '`debit`: money left the wallet at the service; `credit`: money came in.' });

export const workKind = workKindField.nullable();

export const workId = z.string().nullable().meta({
  description: 'Id of the order, top-up or VPN subscription, if the movement is about one.',
  example: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD',
});

export const nullableText = z.string().nullable();

/** Id of the object that the service names as the subject of a movement. */
const namedId = (what: string) =>
  nullableText.meta({ description: `Id of the ${what} at the service, if the movement has one.` });

const causeKind = z.enum(CAUSE_KINDS).meta({
  description:
    '`attempt`: the cost of an attempt to buy, or its return. `subscription_period`: a later period of a VPN ' +
    'subscription. `refund`: the credit for something that was bought. `deposit`: money paid in. `adjustment`: ' +
    'everything else.',
});

const movement = z
  .strictObject({
    id: z.string().meta({ description: 'The service’s id of the movement.', example: 'wt_7' }),
    amount: money,
    reason: z.string().meta({ description: 'The reason, in the service’s terms.', example: 'order' }),
    occurred_at: instant,
    read_at: instant.meta({ description: 'When we first read it.' }),
    service_order_id: namedId('order'),
    external_order_id: nullableText.meta({
      description:
        'The reference of the purchase at the service: yours, or with `~` and a number that of a further attempt.',
    }),
    service_esim_id: namedId('eSIM'),
    service_topup_id: namedId('top-up'),
    service_refund_id: namedId('refund'),
    service_subscription_id: namedId('VPN subscription'),
    external_subscription_id: nullableText.meta({ description: 'The same for a VPN subscription.' }),
  })
  .meta({ id: 'ServiceMovement', description: 'A movement of the wallet as the service shows it.' });

export const walletTransaction = z
  .strictObject({
    id: z
      .string()
      .meta({ description: '`jrn_…` is a row of our journal, `mov_…` a movement without one.', example: 'jrn_42' }),
    direction,
    amount: money.meta({ description: 'Amount in our journal.' }),
    cause: z
      .strictObject({ kind: causeKind, id: z.string() })
      .nullable()
      .meta({ description: 'Its cause; null when it has none in our journal.' }),
    subject_kind: workKind.meta({
      description: 'The kind of work, if it is about an order, a top-up or a VPN subscription.',
      example: 'order',
    }),
    subject_id: workId,
    created_at: instant.meta({ description: 'When it was recorded here.' }),
    service: movement.nullable().meta({ description: 'Null until the service has shown it.' }),
  })
  .meta({
    id: 'WalletTransaction',
    example: {
      amount: { amount: '2.40', currency: 'USD' },
      cause: { kind: 'attempt', id: 'att_01JQ8Z5ZC4S8F1G2H3J4K5M6N7' },
      service: {
        id: 'wt_7',
        amount: { amount: '2.40', currency: 'USD' },
        reason: 'order',
        occurred_at: '2030-01-31T12:00:00.000Z',
        read_at: '2030-01-31T12:05:00.000Z',
        service_order_id: 'so_1',
        external_order_id: 'shop-4711',
        service_esim_id: null,
        service_topup_id: null,
        service_refund_id: null,
        service_subscription_id: null,
        external_subscription_id: null,
      },
    },
  });

export const walletTransactionPage = pageOf(walletTransaction, 'WalletTransactionPage');

export const walletTransactionQuery = z.strictObject({
  cause: z
    .enum([...CAUSE_KINDS, 'none'])
    .optional()
    .meta({ description: 'Only movements with this kind of cause; `none`: movements without a cause in our journal.' }),
  direction: direction.optional(),
  order_id: orderIdInput.optional().meta({ description: 'Only debits and credits of this order.' }),
  esim_id: esimIdInput.optional().meta({ description: 'Only debits and credits of this eSIM and its top-ups.' }),
  created_after: timeInQuery('Only recorded later than this.'),
  created_before: timeInQuery('Only recorded earlier than this.'),
  ...pageQuery,
});

/**
 * A line of the wallet as the API shows it.
 * @throws TypeError when it has neither a journal row nor a movement.
 */
export function walletTransactionJson({ entry, movement: shown, work }: WalletLine): z.input<typeof walletTransaction> {
  const row = entry ?? shown;
  if (row === undefined) throw new TypeError('a line of the wallet is a row of the journal, a movement, or both');
  return {
    id: entry === undefined ? `mov_${row.id}` : `jrn_${row.id}`,
    direction: row.direction,
    amount: { amount: plainAmount(row.amount), currency: row.currency },
    cause: row.causeKind === null || row.causeId === null ? null : { kind: row.causeKind, id: row.causeId },
    subject_kind: work?.kind ?? null,
    subject_id: work?.id ?? null,
    created_at: ('recordedAt' in row ? row.recordedAt : row.readAt).toISOString(),
    service:
      shown === undefined
        ? null
        : {
            id: shown.serviceId,
            amount: { amount: plainAmount(shown.amount), currency: shown.currency },
            reason: shown.reason,
            occurred_at: shown.occurredAt.toISOString(),
            read_at: shown.readAt.toISOString(),
            service_order_id: shown.orderId,
            external_order_id: shown.orderReference,
            service_esim_id: shown.esimId,
            service_topup_id: shown.topupId,
            service_refund_id: shown.refundId,
            service_subscription_id: shown.subscriptionId,
            external_subscription_id: shown.subscriptionReference,
          },
  };
}

/** The columns of the list as a file. */
export const walletTransactionCsv: CsvColumns<z.input<typeof walletTransaction>> = {
  id: safe((line) => line.id),
  direction: safe((line) => line.direction),
  amount: amount((line) => line.amount),
  cause_kind: safe(({ cause }) => cause?.kind),
  cause_id: text(({ cause }) => cause?.id),
  subject_kind: safe((line) => line.subject_kind),
  subject_id: safe((line) => line.subject_id),
  created_at: safe((line) => line.created_at),
  service_movement_id: text(({ service }) => service?.id),
  service_amount: amount(({ service }) => service?.amount),
  service_reason: text(({ service }) => service?.reason),
  service_occurred_at: safe(({ service }) => service?.occurred_at),
};
