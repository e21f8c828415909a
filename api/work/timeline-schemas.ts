import * as z from 'zod';
import { instant } from '#api/fields/instant.ts';
import { pageOf, pageQuery } from '#api/lists/page-schemas.ts';
import { submitAgain } from '#api/work/submit-again.ts';

const timelineEntry = z
  .strictObject({
    at: instant,
    event: z.string().meta({ description: 'Stable name.', example: 'order.accepted' }),
    message: z.string().meta({ description: 'A sentence for people.' }),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  })
  .meta({ id: 'TimelineEntry' });

/** Where work stands at the moment of the answer. */
const standing = z
  .strictObject({
    now: z.string().meta({
      description: 'Where it stands, in a sentence.',
      example: 'The order is held: it waits for something that passes.',
    }),
    why: z.string().nullable().meta({ description: 'What it waits for, or why it did not come to its aim.' }),
    next: z.string().meta({ description: 'What happens next.' }),
    next_at: instant.nullable().meta({ description: 'When, if time brings it.' }),
    submit_again: submitAgain.meta({ description: 'As of the resource.' }),
  })
  .meta({ id: 'Standing' });

export const timelinePage = pageOf(timelineEntry, 'TimelinePage').extend({ standing }).meta({ id: 'Timeline' });

export const timelineQuery = z.strictObject(pageQuery);
