/** The header `Idempotency-Key`, as the API describes it. */
import * as z from 'zod';
import { IDEMPOTENCY_KEY_FORMS } from '#api/http/idempotency.ts';

/** The example of all calls. The forms of /docs show and send new keys. */
const EXAMPLE_IDEMPOTENCY_KEY = '4f5d2f0e-2a53-4c6f-9d0e-7a0f6a2a1c11';

const FORM =
  '1 to 255 visible ASCII characters, bare or as a string in double quotes (RFC 9651), which may also contain spaces.';

/** Length with every character escaped and two quotes. */
const MAX_LENGTH = 2 * 255 + 2;

function idempotencyKey(description: string) {
  return z.string().meta({
    description: `${description} ${FORM}`,
    example: EXAMPLE_IDEMPOTENCY_KEY,
    override: { pattern: IDEMPOTENCY_KEY_FORMS, minLength: 1, maxLength: MAX_LENGTH },
  });
}

/** For calls that require the header. */
export const idempotencyKeyHeader = z.strictObject({
  'Idempotency-Key': idempotencyKey('Unique for this operation, the same for each of its retries.').meta({
    param: { id: 'IdempotencyKey' },
  }),
});

/** For bulk actions: required unless the call is a dry run. */
export const bulkIdempotencyKeyHeader = z.strictObject({
  'Idempotency-Key': idempotencyKey(
    'Required unless `dry_run` is true; the same for each retry of the call.',
  ).optional(),
});

/** The header of answers that may repeat an earlier answer. */
export const replayedHeader = {
  'Idempotent-Replayed': '`true` when an earlier request with the same key was accepted, and this repeats its answer.',
} as const;
