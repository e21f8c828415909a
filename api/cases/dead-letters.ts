import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { actionReason, instant } from '#api/fields/fields.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageOf, pageQuery, pageReply } from '#api/lists/lists.ts';
import { Problem, requireFound } from '#api/problems/problem.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import {
  DEAD_LETTER_QUEUES,
  type DeadLetter,
  deadLetterId,
  type DeadLetterQueue,
  listDeadLetters,
  settleDeadLetter,
} from '#fulfilment/operator/dead-letters.ts';

const PATH = '/v1/dead-letters';
const ID = /^(inbox|outbox)_([1-9][0-9]{0,17})$/;
const exampleId = 'inbox_4711';

const queueName = z.enum(DEAD_LETTER_QUEUES).meta({
  description:
    '`inbox`: a report of the service. `outbox`: a request to start or wake the workflow of a piece of work.',
});

const letterOutput = z
  .strictObject({
    id: z.string().meta({ description: 'The queue and the number of the row.', example: exampleId }),
    queue: queueName,
    message: z.string().meta({
      description: 'The event of the service, or the request to the workflow.',
      example: 'order.completed',
    }),
    subject_kind: z
      .enum([...WORK_KINDS, 'delivery'])
      .meta({ description: 'The kind of work, or `delivery` when the webhook belongs to no known work.' }),
    subject_id: z.string().meta({ description: 'Id of the work, or of the delivery.', example: 'dlv-1' }),
    error: z.string().meta({ description: 'Why it cannot be processed.' }),
    tries: z.int().meta({ description: 'Number of tries; 0 when it could not be read on arrival.' }),
    received_at: instant,
  })
  .meta({
    id: 'DeadLetter',
    example: {
      subject_id: 'ord_01JQ8Z6A2B3C4D5E6F7G8H9JKM',
      error: 'Cannot be processed: DecryptionError: cannot decrypt: key "2029" is not in ENCRYPTION_KEYS',
      tries: 10,
    },
  });

const body = z.strictObject({ reason: actionReason }).meta({ id: 'DeadLetterAction' });

export function deadLetterOperations(dependencies: ApiDependencies): Operation[] {
  const { database } = dependencies;
  return [
    operation(`GET ${PATH}`, {
      id: 'listDeadLetters',
      summary: 'List dead letters of a queue, oldest first',
      description:
        'Reports of the service and requests to workflows that failed all tries. Those about known work have a case ' +
        '`message_quarantined`, and that work makes no new purchase until they are requeued or dismissed.',
      scope: 'cases:operate',
      accountWide: true,
      query: z.strictObject({ queue: queueName.default('inbox'), ...pageQuery }),
      answers: { 200: jsonAnswer('A page of dead letters.', pageOf(letterOutput, 'DeadLetterPage')) },
      handle: async ({ query }) =>
        pageReply(
          query,
          CURSORS[query.queue],
          (at) => database.run((db) => listDeadLetters(db, query.queue, at)),
          letterJson,
        ),
    }),
    settleOperation(dependencies, 'requeue', {
      summary: 'Requeue a dead letter',
      description:
        'After its cause was corrected. It gets as many tries as a new one; if it fails again, it returns to the ' +
        'list with a new case. Its case closes when nothing else of the same work is quarantined.',
    }),
    settleOperation(dependencies, 'dismiss', {
      summary: 'Dismiss a dead letter',
      description:
        'It is never processed, and no longer prevents purchases. Check the purchase at the service first: a ' +
        'dismissed report has no effect, even if it reports a purchase. A report stays stored; a request of the ' +
        'outbox is deleted.',
    }),
  ];
}

function settleOperation(
  { database, now }: ApiDependencies,
  action: 'requeue' | 'dismiss',
  texts: { readonly summary: string; readonly description: string },
): Operation {
  return operation(`POST ${PATH}/{id}/${action}`, {
    id: `${action}DeadLetter`,
    ...texts,
    scope: 'cases:operate',
    accountWide: true,
    params: z.strictObject({ id: z.string().meta({ description: 'As the list shows it.', example: exampleId }) }),
    body,
    answers: { 200: jsonAnswer('The dead letter.', letterOutput) },
    problems: ['dead_letter_not_found'],
    handle: async ({ params: { id }, body: { reason }, caller }) => {
      const request = { ...readId(id), action, actor: caller.apiKeyId, reason };
      // Without such a letter nothing is audited.
      const letter = await database.transaction(async (tx) =>
        requireFound(await settleDeadLetter(tx, request, new Date(now())), 'dead_letter_not_found'),
      );
      return jsonReply(200, letterJson(letter));
    },
  });
}

/** @throws Problem dead_letter_not_found */
function readId(id: string): { readonly queue: DeadLetterQueue; readonly rowId: bigint } {
  const [, name, number = ''] = ID.exec(id) ?? [];
  const queue = DEAD_LETTER_QUEUES.find((each) => each === name);
  if (queue === undefined) throw new Problem('dead_letter_not_found');
  return { queue, rowId: BigInt(number) };
}

function letterJson({ queue, row }: DeadLetter): z.input<typeof letterOutput> {
  const shared = { id: deadLetterId(queue, row.id), queue, tries: row.tries };
  if (queue === 'outbox') {
    const { topic, subjectKind, subjectId, lastError, createdAt } = row;
    const about = { subject_kind: subjectKind, subject_id: subjectId };
    return { ...shared, ...about, message: topic, error: lastError ?? 'unknown', received_at: createdAt.toISOString() };
  }
  const { event, subjectKind, subjectId, deliveryId, note, receivedAt } = row;
  const known = subjectKind !== null && subjectId !== null;
  const about = known
    ? { subject_kind: subjectKind, subject_id: subjectId }
    : { subject_kind: 'delivery' as const, subject_id: deliveryId };
  return {
    ...shared,
    ...about,
    message: event ?? 'unknown',
    error: note ?? 'unknown',
    received_at: receivedAt.toISOString(),
  };
}
