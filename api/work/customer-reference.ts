/** The caller's reference of the end customer. It may be personal: stored encrypted, found by a keyed hash. */
import * as z from 'zod';
import { FILLED_TEXT_PATTERN, storable } from '#api/fields/text.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import { type CustomerWork, customerReferenceAad } from '#db/encryption-aads.ts';
import type { NewCustomer } from '#fulfilment/accept/work.ts';

const MAX_CUSTOMER_REFERENCE = 255;

const EXAMPLE = 'C-2207';

/** The reference in a request. */
export const customerReference = z
  .string()
  .min(1)
  .max(MAX_CUSTOMER_REFERENCE)
  .check(storable)
  // A strict service would refuse a blank one after we have accepted the work.
  .refine((text) => text.trim() !== '', { message: 'must not be blank' })
  .meta({
    description: 'Your reference of the customer. Stored encrypted; in no event and no log.',
    example: EXAMPLE,
    override: { pattern: FILLED_TEXT_PATTERN },
  });

/** The reference in an answer. */
export const customerReferenceOutput = z
  .string()
  .nullable()
  .meta({ description: 'Your reference of the customer; null: none.', example: EXAMPLE });

/** The filter of a list. */
export const customerReferenceInQuery = customerReference.optional().meta({
  description:
    'Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log.',
});

/** The hash by which a reference is found. */
export function customerHash(keyRing: KeyRing, reference: string): Buffer;
export function customerHash(keyRing: KeyRing, reference: string | undefined): Buffer | undefined;
export function customerHash(keyRing: KeyRing, reference: string | undefined): Buffer | undefined {
  return reference === undefined ? undefined : keyRing.hash(reference, 'customer_reference');
}

/** The reference of new work as it is stored. */
export function newCustomer(keyRing: KeyRing, kind: CustomerWork, id: string, reference: string): NewCustomer {
  return {
    encryptedCustomerReference: keyRing.encrypt(reference, customerReferenceAad(kind, id)),
    customerReferenceHash: customerHash(keyRing, reference),
  };
}

/** The stored reference. @param id of the work; for an eSIM that of its order. */
export function readCustomer(
  keyRing: KeyRing,
  kind: CustomerWork,
  id: string,
  { encryptedCustomerReference: encrypted }: { readonly encryptedCustomerReference: Buffer | null },
): string | null {
  return encrypted === null ? null : keyRing.decryptText(encrypted, customerReferenceAad(kind, id));
}
