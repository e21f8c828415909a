import * as z from 'zod';
import {
  createdBy,
  FILLED_TEXT_PATTERN,
  filledText,
  instant,
  instantInput,
  instantJson,
  meaningsOf,
  ourId,
  wholeNumber,
} from '#api/fields/fields.ts';
import { pageOf } from '#api/lists/lists.ts';
import { metadata } from '#api/work/work-input.ts';
import {
  SHARE_LINK_STATUSES,
  shareLanguages,
  shareLinkStatus,
  type ShareLinkStatus,
} from '#domain/esims/share-link.ts';
import { SHARE_LINK_LIFE } from '#domain/policy/api-policy.ts';
import type { ShareLinkRow } from '#fulfilment/share-links/share-links.ts';

export const SHARE_EXAMPLE_SECRET = '7dK2mQx9VtR4bLw8ZpC1nYs5HgJ3fEu6';
const SHARE_EXAMPLE_URL = 'https://esim.example.com';
const EXAMPLE_PATH = `/e/${SHARE_EXAMPLE_SECRET}`;

const MAX_LABEL = 100;
const { minMs, maxMs, defaultMs } = SHARE_LINK_LIFE;
const seconds = (ms: number) => ms / 1_000;
const days = (ms: number) => ms / 86_400_000;
const BOUNDS = `${minMs / 60_000} minutes to ${days(maxMs)} days after now`;

const language = z.enum(shareLanguages).meta({
  description: 'Language of the page when the customer chooses none. Default: the language of the browser.',
  example: 'de',
});

const label = filledText(MAX_LABEL).meta({
  description: 'A heading for the customer, shown on the page. Not encrypted: do not include personal data.',
  example: 'Japan, 1 GB',
  override: { pattern: FILLED_TEXT_PATTERN },
});

export const shareLinkInput = z
  .strictObject({
    expires_in_seconds: wholeNumber(seconds(minMs), seconds(maxMs))
      .optional()
      .meta({ description: `How long the link can be opened. Default: ${days(defaultMs)} days.`, example: 604_800 }),
    expires_at: instantInput.optional().meta({
      description: `The same as a time, ${BOUNDS}. Only one of the two may be given.`,
      override: { type: 'string', format: 'date-time' },
    }),
    language: language.optional(),
    label: label.optional(),
    metadata: metadata.optional(),
  })
  .refine(({ expires_in_seconds: duration, expires_at: end }) => duration === undefined || end === undefined, {
    message: 'must not be given together with `expires_in_seconds`',
    path: ['expires_at'],
  })
  .meta({ id: 'ShareLinkInput' });

const statuses = Object.keys(SHARE_LINK_STATUSES) as [ShareLinkStatus, ...ShareLinkStatus[]];

export const shareLinkStatusField = z.enum(statuses).meta({ description: meaningsOf(SHARE_LINK_STATUSES) });

const shareLinkFields = {
  id: ourId('shareLink'),
  esim_id: ourId('esim'),
  status: shareLinkStatusField,
  label: z.string().nullable().meta({ description: 'Heading of the page.', example: 'Japan, 1 GB' }),
  language: language.nullable(),
  metadata: z.record(z.string(), z.string()),
  views: z.int().meta({
    description: 'How often the page with the codes was shown. Previews by messengers do not count.',
    example: 2,
  }),
  last_viewed_at: instant.nullable().meta({ description: 'Time of the last view. RFC 3339.' }),
  expires_at: instant,
  revoked_at: instant.nullable(),
  created_by: createdBy,
  created_at: instant,
};

export const shareLinkOutput = z.strictObject(shareLinkFields).meta({
  id: 'ShareLink',
  example: { language: 'de', last_viewed_at: '2030-01-31T18:20:00.000Z', expires_at: '2030-02-07T12:00:00.000Z' },
});

export const createdShareLinkOutput = z
  .strictObject({
    ...shareLinkFields,
    url: z.string().meta({
      description: 'Address of the page for your customer. It contains the secret, which no other answer shows.',
      example: `${SHARE_EXAMPLE_URL}${EXAMPLE_PATH}`,
    }),
    path: z.string().meta({
      description: 'The same without the part from `API_SHARE_LINK_URL`.',
      example: EXAMPLE_PATH,
    }),
  })
  .meta({ id: 'CreatedShareLink', example: { language: 'de', views: 0, expires_at: '2030-02-07T12:00:00.000Z' } });

export const shareLinkPage = pageOf(shareLinkOutput, 'ShareLinkPage');

export function requestedEnd(
  { expires_in_seconds: duration, expires_at: end }: z.output<typeof shareLinkInput>,
  now: Date,
): Date {
  return end ?? new Date(now.getTime() + (duration === undefined ? defaultMs : duration * 1_000));
}

/** @returns undefined when it is within the bounds. */
export function endProblem(end: Date, now: Date): string | undefined {
  const lifeMs = end.getTime() - now.getTime();
  return lifeMs >= minMs && lifeMs <= maxMs ? undefined : `must be ${BOUNDS}`;
}

export function shareLinkJson(row: ShareLinkRow, now: Date): z.input<typeof shareLinkOutput> {
  return {
    id: row.id,
    esim_id: row.esimId,
    status: shareLinkStatus(row, now),
    label: row.label,
    language: row.language,
    metadata: row.metadata,
    views: row.views,
    last_viewed_at: instantJson(row.lastViewedAt),
    expires_at: row.expiresAt.toISOString(),
    revoked_at: instantJson(row.revokedAt),
    created_by: row.apiKeyId,
    created_at: row.createdAt.toISOString(),
  };
}
