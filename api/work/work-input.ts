/** The reference may be personal: stored encrypted, found by a keyed hash. */
import * as z from 'zod';
import { FILLED_TEXT_PATTERN, instantInput, moneyInput, storable, TEXT_PATTERN } from '#api/fields/fields.ts';
import { severalInQuery } from '#api/lists/lists.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import { customerReferenceAad, type CustomerWork } from '#db/encryption-aads.ts';
import { WHEN_USED_UP } from '#domain/retry/retry-rules.ts';
import { CALLER_REFERENCE_CHARACTERS, MAX_REFERENCE_LENGTH, isCallerReference } from '#domain/work/identifiers.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { endAtDeadline } from '#domain/work/status-text.ts';
import type { NewCustomer } from '#fulfilment/accept/work.ts';

const EXAMPLE = 'C-2207';

export const customerReference = z
  .string()
  .min(1)
  .max(255)
  .check(storable)
  // A strict service would refuse a blank one after we have accepted the work.
  .refine((text) => text.trim() !== '', { message: 'must not be blank' })
  .meta({
    description: 'Your reference of the customer. Stored encrypted; in no event and no log.',
    example: EXAMPLE,
    override: { pattern: FILLED_TEXT_PATTERN },
  });

export const customerReferenceOutput = z
  .string()
  .nullable()
  .meta({ description: 'Your reference of the customer; null: none.', example: EXAMPLE });

export const customerReferenceInQuery = customerReference.optional().meta({
  description:
    'Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log.',
});

export function customerHash(keyRing: KeyRing, reference: string): Buffer;
export function customerHash(keyRing: KeyRing, reference: string | undefined): Buffer | undefined;
export function customerHash(keyRing: KeyRing, reference: string | undefined): Buffer | undefined {
  return reference === undefined ? undefined : keyRing.hash(reference, 'customer_reference');
}

export function newCustomer(keyRing: KeyRing, kind: CustomerWork, id: string, reference: string): NewCustomer {
  return {
    encryptedCustomerReference: keyRing.encrypt(reference, customerReferenceAad(kind, id)),
    customerReferenceHash: customerHash(keyRing, reference),
  };
}

/** @param id of the work; for an eSIM that of its order. */
export function readCustomer(
  keyRing: KeyRing,
  kind: CustomerWork,
  id: string,
  { encryptedCustomerReference: encrypted }: { readonly encryptedCustomerReference: Buffer | null },
): string | null {
  return encrypted === null ? null : keyRing.decryptText(encrypted, customerReferenceAad(kind, id));
}

const metadataKey = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/,
    'must have 1 to 40 letters, digits, `_`, `.` or `-` and begin with a letter or digit',
  );

const metadataText = (most: number) =>
  z
    .string()
    .max(most)
    .check(storable)
    .meta({ override: { pattern: TEXT_PATTERN } });

function metadataOf({ pairs: most, value }: { readonly pairs: number; readonly value: number }) {
  return z
    .record(metadataKey, metadataText(value))
    .refine((pairs) => Object.keys(pairs).length <= most, { message: `must have at most ${most} pairs` })
    .meta({
      description: 'Your own data, returned unchanged. Not encrypted: do not include personal data.',
      example: { shop_order: 'A-1001' },
      override: { maxProperties: most },
    });
}

export const metadata = metadataOf({ pairs: 20, value: 500 });

const MAX_METADATA_FILTERS = 5;

/** `metadata[key]=value`, once for each pair. */
export const metadataInQuery = z
  .record(metadataKey, metadataText(500), { error: 'must be written as `metadata[key]=value`' })
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA_FILTERS, {
    message: `must have at most ${MAX_METADATA_FILTERS} pairs`,
  })
  .optional()
  .meta({
    description: 'Only those with all of these pairs in their metadata, each written as `metadata[key]=value`.',
    override: { maxProperties: MAX_METADATA_FILTERS },
  });

/** Smaller, because a batch has many items. */
export const itemMetadata = metadataOf({ pairs: 5, value: 100 });

const REFERENCE_FORM = `must have 1 to ${MAX_REFERENCE_LENGTH} visible ASCII characters other than \`~\``;

export function callerReferencesInQuery(kind: WorkKind) {
  return severalInQuery(isCallerReference, {
    form: REFERENCE_FORM,
    // Of a list: without the comma, which separates.
    pattern: `^[!-+\\--}]{1,${MAX_REFERENCE_LENGTH}}$`,
    description: `Only the ${KINDS[kind].noun} with your reference; ask for one with a comma alone.`,
  });
}

export function callerReferenceInput(kind: WorkKind, example: string) {
  return z
    .string()
    .refine(isCallerReference, { message: REFERENCE_FORM })
    .meta({
      description:
        `Your reference. It gets one ${KINDS[kind].noun}, also after repeated requests. Only after that has ended ` +
        'without buying (`failed` or `abandoned`) the reference can be used again, with another Idempotency-Key.',
      example,
      override: { pattern: `^${CALLER_REFERENCE_CHARACTERS}{1,${MAX_REFERENCE_LENGTH}}$` },
    });
}

export function purchaseInput(kind: WorkKind) {
  const noun = KINDS[kind].noun;
  return {
    max_price: moneyInput.optional().meta({
      description:
        'Maximum that the service may charge, in the currency of its price. While its price is higher, ' +
        `the ${noun} is held. A limit in another currency is refused with 422; if the currency of the price is not ` +
        `known when the ${noun} is accepted, it is held until the limit is changed.`,
    }),
    customer_price: moneyInput.optional().meta({
      description:
        'Price that your customer pays, in the currency of the price of the service. It is for the summary of ' +
        'sales and limits nothing: give `max_price` for that.',
    }),
    quote_id: z
      .string()
      .max(1_000)
      .optional()
      .meta({
        description:
          'The `id` of a quote for the same purchase, at most 15 minutes old: its price becomes the `max_price`, ' +
          'which must then not be given.',
      }),
    if_unavailable: z
      .enum(['refuse', 'hold'])
      .default('refuse')
      .meta({
        description:
          `What happens if the service does not sell it at the moment: the ${noun} is refused with 422, or it is ` +
          'held until the service sells it or the deadline passes.',
      }),
    deadline: deadlineInput(kind),
    when_attempts_are_used_up: z
      .enum(WHEN_USED_UP)
      .optional()
      .meta({
        description:
          `What follows when every attempt has failed and provably cost nothing: the ${noun} fails, or it asks a ` +
          'person (`needs_attention`) until its deadline. Default: `retry.when_attempts_are_used_up`.',
      }),
    customer_reference: customerReference.optional(),
    metadata: metadata.optional(),
  };
}

export function deadlineInput(kind: WorkKind) {
  return instantInput.optional().meta({
    description:
      `Work that is still held or not sent yet then ${endAtDeadline(kind)}. Must be in the future. Default and ` +
      'maximum: 48 hours after it was accepted (`retry.hold_deadline`, and `retry.rules` for single classes of ' +
      'failure).',
    override: { type: 'string', format: 'date-time' },
  });
}
