import * as z from 'zod';
import { instant } from '#api/fields/instant.ts';
import { pageOf, pageQuery } from '#api/lists/page-schemas.ts';
import { resubmissionSchema } from '#api/work/resubmission-schema.ts';

const timelineEntry = z
  .strictObject({
    at: instant,
    event: z.string().meta({ description: 'Stable name of the event.', example: 'order.accepted' }),
    message: z.string().meta({ description: 'A human-readable sentence.' }),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  })
  .meta({ id: 'TimelineEntry' });

/** The current state of work, in sentences. */
const currentState = z
  .strictObject({
    now: z.string().meta({
      description: 'The state as a sentence.',
      example: 'The order is held until an obstacle passes.',
    }),
    reason: z.string().nullable().meta({ description: 'The hold reason, or why it failed.' }),
    next: z.string().meta({ description: 'The next step.' }),
    next_at: instant.nullable().meta({ description: 'The time of the next step, if it is known.' }),
    resubmission: resubmissionSchema.meta({ description: 'The same value as in the resource.' }),
  })
  .meta({ id: 'CurrentState' });

export const timelinePage = pageOf(timelineEntry, 'TimelinePage')
  .extend({ current_state: currentState })
  .meta({ id: 'Timeline' });

export const timelineQuery = z.strictObject(pageQuery);
