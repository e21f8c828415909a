/** Answers of the API about work, and their output. */
import * as z from 'zod';

export const work = z.looseObject({
  id: z.string(),
  status: z.string(),
});
export type Work = z.output<typeof work>;

export const bulkResult = z.object({
  matched: z.int(),
  remaining: z.int(),
  data: z.array(
    z.object({
      id: z.string(),
      status: z.string().nullable(),
      failure_class: z.string().nullable(),
      attention: z.string().nullable(),
      result: z.enum(['would_apply', 'applied', 'unchanged', 'refused', 'not_found']),
      detail: z.string().nullable(),
    }),
  ),
});
export type BulkResult = z.output<typeof bulkResult>['data'][number];

/** Result of each action. The status in the answer is that of the moment of the action, before the work continues. */
const DONE = {
  retry: 'is tried again now',
  release: 'released through the gate',
  abandon: 'abandoned',
  limit: 'limit changed',
  'retry-policy': 'retry policy changed',
  resolve: 'case resolved',
} as const;
export type Action = keyof typeof DONE;

/** One line about an action that was carried out. @param status at that moment. */
export function doneLine(id: string, action: Action, status: string | null): string {
  return `${id}  ${DONE[action]}  (status at that moment: ${status})`;
}

/** One line about a refused action. */
export function refusedLine(id: string, reason: string | null): string {
  return `${id}  refused: ${reason}`;
}

/** One line about the result of an action on one of several. */
export function bulkLine(action: Action, result: BulkResult): string {
  const { id, status, failure_class: failure, attention } = result;
  const reason = attention ?? failure;
  switch (result.result) {
    case 'would_apply':
      return [`would ${action}: ${id}`, status, reason === null ? undefined : `(${reason})`]
        .filter((part) => typeof part === 'string')
        .join('  ');
    case 'applied':
      return doneLine(id, action, status);
    case 'unchanged':
      return `${id}  unchanged: already done  (status at that moment: ${status})`;
    case 'refused':
      return refusedLine(id, result.detail);
    case 'not_found':
      return refusedLine(id, 'no work has this id');
  }
}
