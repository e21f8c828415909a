import * as z from 'zod';
import { CIRCUIT_STATES, CIRCUITS, circuitNames, circuitSentence, type CircuitName } from '#domain/circuit.ts';
import { paddedAmount, subtractMoney, type Money } from '#domain/money.ts';
import { WORK_KINDS } from '#domain/work.ts';
import { addPause, releasePause, type PauseRow } from '#db/gate/pauses.ts';
import { readGate, type GateView } from '#db/gate/view.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, instant, mayExist, money, ourId } from '#api/fields.ts';
import { answerOnce } from '#api/idempotency.ts';
import { operation, type Operation } from '#api/operation.ts';
import { Problem } from '#api/problem.ts';
import { jsonReply } from '#api/reply.ts';
import { instantJson } from '#api/representations.ts';
import { failureClass, reasonForAct } from '#api/work-schemas.ts';

const tag = 'Purchase gate';
const JSON_TYPE = 'application/json';
const examplePauseId = 'pause_01JQ8Z9E5F6G7H8J9K0MNPQRST';
const exampleAt = '2030-01-31T12:00:00.000Z';

const kind = z.enum(WORK_KINDS);

const pauseOutput = z
  .strictObject({
    id: ourId('pause', examplePauseId),
    kind: kind.nullable().meta({ description: 'The kind of work that is paused; null: every kind.' }),
    failure_class: failureClass.nullable().meta({ description: 'Only work that failed with this last is paused; null: all buying.' }),
    why: z.string(),
    paused_by: z.string().meta({ description: 'Who: the id of an API key.' }),
    paused_at: instant,
    released_at: instant.nullable(),
    released_by: z.string().nullable(),
    release_why: z.string().nullable(),
  })
  .meta({ id: 'Pause' });

const pauseExample: z.input<typeof pauseOutput> = {
  id: examplePauseId,
  kind: null,
  failure_class: 'package_unavailable',
  why: 'The supplier changes its catalogue.',
  paused_by: 'key_01JQ8Z9E5F6G7H8J9K0MNPQRST',
  paused_at: exampleAt,
  released_at: null,
  released_by: null,
  release_why: null,
};

const circuitOutput = z.strictObject({
  name: z.enum(circuitNames as [CircuitName, ...CircuitName[]]),
  state: z.enum(CIRCUIT_STATES).meta({
    description:
      '`closed`: purchases go through. `open`: they are held without a call to the service. `probing`: one of them is let through ' +
      'to find out. `releasing`: new ones go through, those that were held follow at a set rate, oldest first.',
  }),
  failure_classes: z.array(failureClass).meta({ description: 'Failures that belong to it.' }),
  meaning: z.string(),
  failures: z.int().meta({ description: 'Failures in a row while it is closed.' }),
  detail: z.string().nullable().meta({ description: 'What the service last said.' }),
  opened_at: instant.nullable(),
  probe_at: instant.nullable().meta({ description: 'When the next purchase is let through to find out.' }),
  canary: z.strictObject({ kind, id: z.string() }).nullable().meta({ description: 'The purchase that is finding out.' }),
});

const gateOutput = z
  .strictObject({
    circuits: z.array(circuitOutput),
    pauses: z.array(pauseOutput).meta({ description: 'In force, oldest first.' }),
    held: z
      .array(
        z.strictObject({
          held_at: z.string().meta({ description: '`circuit:<name>`, `pause:<id>`, `spend_limit` or `wallet`.', example: 'circuit:service_down' }),
          failure_class: failureClass,
          count: z.int(),
          oldest: z.strictObject({ kind, id: z.string(), accepted_at: instant }),
        }),
      )
      .meta({ description: 'What is held at the gate. What the service refused to one purchase alone is held by its own timer, and not here.' }),
    wallet: z
      .strictObject({
        balance: money,
        // What purchases under way may still take from that balance.
        reserved: money,
        available: money,
        read_at: instant,
        low_since: instant.nullable().meta({ description: 'Since when the balance is below POLICY_LOW_BALANCE.' }),
      })
      .nullable()
      .meta({ description: 'As it was last read for a purchase; null when it is not known.' }),
    spend: z.strictObject({
      day: z.string().meta({ description: 'The day (UTC).', example: '2030-01-31' }),
      spent: z.array(money).meta({ description: 'Spent today, or perhaps spent; one amount for each currency.' }),
      limits: z.array(
        z.strictObject({
          api_key_id: z.string().nullable().meta({ description: 'Null: of all keys together.' }),
          name: z.string().nullable(),
          limit: money,
          spent: money,
        }),
      ),
    }),
  })
  .meta({ id: 'PurchaseGate' });

const gateExample: z.input<typeof gateOutput> = {
  circuits: [
    {
      name: 'service_down',
      state: 'open',
      failure_classes: [...CIRCUITS.service_down.classes],
      meaning: circuitSentence('service_down'),
      failures: 3,
      detail: 'No connection could be opened.',
      opened_at: exampleAt,
      probe_at: '2030-01-31T12:00:10.000Z',
      canary: null,
    },
  ],
  pauses: [pauseExample],
  held: [
    {
      held_at: 'circuit:service_down',
      failure_class: 'service_down',
      count: 12,
      oldest: { kind: 'order', id: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD', accepted_at: '2030-01-31T11:58:00.000Z' },
    },
  ],
  wallet: {
    balance: { amount: '1250.00', currency: 'EUR' },
    reserved: { amount: '24.00', currency: 'EUR' },
    available: { amount: '1226.00', currency: 'EUR' },
    read_at: exampleAt,
    low_since: null,
  },
  spend: {
    day: '2030-01-31',
    spent: [{ amount: '310.00', currency: 'EUR' }],
    limits: [
      { api_key_id: null, name: null, limit: { amount: '2000.00', currency: 'EUR' }, spent: { amount: '310.00', currency: 'EUR' } },
    ],
  },
};

/** What holds purchases up as a whole, and the operators' hand on it. */
export function purchaseGateOperations(dependencies: ApiDependencies): Operation[] {
  const { database, spendLimit, now } = dependencies;
  return [
    operation({
      id: 'getPurchaseGate',
      method: 'get',
      path: '/v1/purchase-gate',
      tag,
      summary: 'Read what holds purchases up, and what is reserved and spent',
      scope: 'gate:read',
      accountWide: true,
      answers: { 200: { description: 'The gate.', contentType: JSON_TYPE, schema: gateOutput, example: gateExample } },
      handle: async () => jsonReply(200, gateJson(await database.run((db) => readGate(db, spendLimit, now())))),
    }),
    operation({
      id: 'pauseBuying',
      method: 'post',
      path: '/v1/purchase-gate/pauses',
      tag,
      summary: 'Pause buying: all of it, of one kind, or after one failure class',
      description:
        'Nothing that the pause covers is sent from now on; what is being sent at this moment ends. Paused work is held, and fails at its ' +
        'deadline as other held work does. Where the same is paused already, the answer is that pause (200).',
      scope: 'gate:operate',
      accountWide: true,
      idempotent: true,
      body: z
        .strictObject({ kind: kind.optional(), failure_class: failureClass.optional(), why: reasonForAct })
        .meta({ id: 'PauseInput' }),
      bodyExample: { failure_class: 'package_unavailable', why: 'The supplier changes its catalogue.' },
      answers: {
        200: { description: 'The same was paused already.', contentType: JSON_TYPE, schema: pauseOutput, example: pauseExample },
        201: { description: 'The pause.', contentType: JSON_TYPE, schema: pauseOutput, example: pauseExample },
      },
      handle: async ({ body, json, header, caller: { apiKeyId, lineageId } }) => {
        const request = { lineageId, header: header('Idempotency-Key'), target: 'POST /v1/purchase-gate/pauses', json };
        return answerOnce(dependencies, request, async (tx) => {
          const asked = { kind: body.kind ?? null, failureClass: body.failure_class ?? null, why: body.why, actor: apiKeyId };
          const { pause, isNew } = await addPause(tx, asked, new Date(now()));
          return jsonReply(isNew ? 201 : 200, pauseJson(pause));
        });
      },
    }),
    operation({
      id: 'releasePause',
      method: 'post',
      path: '/v1/purchase-gate/pauses/{id}/release',
      tag,
      summary: 'End a pause; what it held goes on at a set rate, oldest first',
      description: 'One that has ended stays as it is.',
      scope: 'gate:operate',
      accountWide: true,
      params: idInPath('pause', examplePauseId),
      body: z.strictObject({ why: reasonForAct }).meta({ id: 'PauseRelease' }),
      bodyExample: { why: 'The new catalogue is there.' },
      answers: { 200: { description: 'The pause.', contentType: JSON_TYPE, schema: pauseOutput, example: pauseExample } },
      problems: ['pause_not_found'],
      handle: async ({ params: { id }, body: { why }, caller }) => {
        const released = mayExist('pause', id)
          ? await database.transaction((tx) => releasePause(tx, id, { actor: caller.apiKeyId, why }, new Date(now())))
          : undefined;
        if (released === undefined) throw new Problem('pause_not_found');
        return jsonReply(200, pauseJson(released));
      },
    }),
  ];
}

function gateJson({ circuits, pauses, held, wallet, day, spent, limits }: GateView): z.input<typeof gateOutput> {
  return {
    circuits: circuitNames.map((name) => circuitJson(name, circuits.find((row) => row.name === name))),
    pauses: pauses.map(pauseJson),
    held: held.map(({ barrier, failureClass: failure, count, oldest: { acceptedAt, ...oldest } }) => ({
      held_at: barrier,
      failure_class: failure,
      count,
      oldest: { ...oldest, accepted_at: acceptedAt.toISOString() },
    })),
    wallet:
      wallet === undefined
        ? null
        : {
            balance: plain(wallet.balance),
            reserved: plain(wallet.reserved),
            available: plain(subtractMoney(wallet.balance, wallet.reserved)),
            read_at: wallet.readAt.toISOString(),
            low_since: instantJson(wallet.lowSince),
          },
    spend: {
      day,
      spent: spent.map(plain),
      limits: limits.map(({ apiKey, limit, spent: amount }) => ({
        api_key_id: apiKey?.id ?? null,
        name: apiKey?.name ?? null,
        limit: plain(limit),
        spent: plain({ amount, currency: limit.currency }),
      })),
    },
  };
}

function circuitJson(name: CircuitName, row: GateView['circuits'][number] | undefined): z.input<typeof circuitOutput> {
  return {
    name,
    state: row?.state ?? 'closed',
    failure_classes: [...CIRCUITS[name].classes],
    meaning: circuitSentence(name),
    failures: row?.failures ?? 0,
    detail: row?.detail ?? null,
    opened_at: instantJson(row?.openedAt ?? null),
    probe_at: instantJson(row?.probeAt ?? null),
    canary: row?.canaryKind == null || row.canaryId === null ? null : { kind: row.canaryKind, id: row.canaryId },
  };
}

function pauseJson(row: PauseRow): z.input<typeof pauseOutput> {
  return {
    id: row.id,
    kind: row.kind,
    failure_class: row.failureClass,
    why: row.why,
    paused_by: row.pausedBy,
    paused_at: row.pausedAt.toISOString(),
    released_at: instantJson(row.releasedAt),
    released_by: row.releasedBy,
    release_why: row.releaseWhy,
  };
}

function plain({ amount, currency }: Money): Money {
  return { amount: paddedAmount(amount), currency };
}
