import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { failureClass, instant, instantJson, money, workKindField as kind, usd } from '#api/fields/fields.ts';
import { driftStopJson, driftStopOutput } from '#api/gate/drift-stops.ts';
import { pauseJson, pauseOutput } from '#api/gate/pauses.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CIRCUITS, CIRCUIT_STATES, circuitNames, circuitSentence, type CircuitName } from '#domain/gate/circuit.ts';
import { paddedMoney, subtractMoney } from '#domain/money/money.ts';
import { readGate, type GateOverview } from '#fulfilment/gate/overview.ts';

const circuitOutput = z.strictObject({
  name: z.enum(circuitNames).meta({
    description: 'The condition of the service that it watches; `meaning` is a sentence about it.',
  }),
  state: z.enum(CIRCUIT_STATES).meta({
    description:
      '`closed`: purchases are sent. `open`: they are held without a call to the service. `probing`: one of them is ' +
      'sent as a test. `releasing`: new ones are sent, and held ones follow at a limited rate, oldest first.',
  }),
  failure_classes: z.array(failureClass).meta({ description: 'Failures that belong to it.' }),
  meaning: z.string(),
  failures: z.int().meta({ description: 'Failures in a row while it is closed.' }),
  detail: z.string().nullable().meta({ description: 'Last failure of the service.' }),
  opened_at: instant.nullable(),
  probe_at: instant.nullable().meta({ description: 'From when on the next purchase is sent as a test.' }),
  canary: z.strictObject({ kind, id: z.string() }).nullable().meta({ description: 'The purchase that is the test.' }),
});

const gateOutput = z
  .strictObject({
    circuits: z.array(circuitOutput),
    pauses: z.array(pauseOutput).meta({ description: 'In force, oldest first.' }),
    drift_stops: z.array(driftStopOutput).meta({
      description:
        'Kinds of purchase that are stopped in part or as a whole because paid deliveries could not be used, or ' +
        'because only a document has shown the answers of the service.',
    }),
    held: z
      .array(
        z.strictObject({
          held_at: z.string().meta({
            description: '`circuit:<name>`, `pause:<id>`, `drift:<kind>`, `spend_limit` or `wallet`.',
            example: 'circuit:service_down',
          }),
          failure_class: failureClass,
          count: z.int(),
          needed: z.array(money).meta({
            description:
              'About how much money it needs: the sum of the known prices, one amount for each currency. The price ' +
              'is the one that the gate compared with the wallet or a daily limit; for work that a circuit or a ' +
              'pause stopped before that, the price in the stored catalogue at that time.',
          }),
          without_price: z.int().meta({ description: 'How many have no known price; `needed` lacks them.' }),
          oldest: z.strictObject({ kind, id: z.string(), accepted_at: instant }),
        }),
      )
      .meta({
        description:
          'Work held at the gate. Work that the service refused individually is held by its own timer ' +
          'and is not listed here; nor is `submitting` work, whose outcome is not known yet.',
      }),
    wallet: z
      .strictObject({
        balance: money,
        // What running purchases may still take.
        reserved: money,
        available: money,
        read_at: instant,
        current: z.boolean().meta({
          description:
            'False when the gate does not use this balance until it has read it again: the service did not answer, ' +
            'or a purchase at an unknown price was sent.',
        }),
        low_since: instant.nullable().meta({ description: 'Since when the balance is below wallet.low_balance.' }),
      })
      .nullable()
      .meta({ description: 'The wallet at the last read for a purchase; null before the first.' }),
    spend: z.strictObject({
      day: z.string().meta({ description: 'The day (UTC).', example: '2030-01-31' }),
      spent: z.array(money).meta({ description: 'Spent or possibly spent today; one amount for each currency.' }),
      limits: z.array(
        z.strictObject({
          api_key_id: z.string().nullable().meta({ description: 'Null: the limit of all keys together.' }),
          name: z.string().nullable(),
          limit: money,
          spent: money,
        }),
      ),
    }),
  })
  .meta({
    id: 'PurchaseGate',
    example: {
      circuits: [
        {
          name: 'service_down',
          state: 'open',
          failure_classes: ['not_sent', 'timeout', 'connection_lost', 'server_error'],
          meaning: 'The service did not answer earlier requests, so nothing was sent.',
          failures: 3,
          detail: 'No connection could be opened.',
          opened_at: '2030-01-31T12:00:00.000Z',
          probe_at: '2030-01-31T12:00:10.000Z',
          canary: null,
        },
      ],
      held: [
        {
          held_at: 'circuit:service_down',
          failure_class: 'service_down',
          count: 12,
          needed: [usd('28.80')],
          without_price: 0,
          oldest: { kind: 'order', id: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD', accepted_at: '2030-01-31T11:58:00.000Z' },
        },
      ],
      wallet: {
        balance: usd('1250.00'),
        reserved: usd('24.00'),
        available: usd('1226.00'),
        read_at: '2030-01-31T12:00:00.000Z',
        current: true,
        low_since: null,
      },
      spend: {
        day: '2030-01-31',
        spent: [usd('310.00')],
        limits: [{ api_key_id: null, name: null, limit: usd('2000.00'), spent: usd('310.00') }],
      },
    },
  });

export function purchaseGateOperations({ database, gate, now }: ApiDependencies): Operation[] {
  return [
    operation('GET /v1/purchase-gate', {
      id: 'getPurchaseGate',
      summary: 'Read why purchases are held, and what is reserved and spent',
      scope: 'gate:read',
      answers: { 200: jsonAnswer('The gate.', gateOutput) },
      handle: async () => jsonReply(200, gateJson(await database.run((db) => readGate(db, gate.spendLimit, now())))),
    }),
  ];
}

function gateJson(gate: GateOverview): z.input<typeof gateOutput> {
  const { wallet } = gate;
  return {
    circuits: circuitNames.map((name) => circuitJson(name, gate.circuits)),
    pauses: gate.pauses.map(pauseJson),
    drift_stops: gate.driftStops.map((driftStop) => driftStopJson(driftStop, gate.parked)),
    held: gate.held.map(({ barrier, failureClass: failure, count, needed, withoutPrice, oldest }) => ({
      held_at: barrier,
      failure_class: failure,
      count,
      needed: needed.map(paddedMoney),
      without_price: withoutPrice,
      oldest: { kind: oldest.kind, id: oldest.id, accepted_at: oldest.acceptedAt.toISOString() },
    })),
    wallet:
      wallet === undefined
        ? null
        : {
            balance: paddedMoney(wallet.balance),
            reserved: paddedMoney(wallet.reserved),
            available: paddedMoney(subtractMoney(wallet.balance, wallet.reserved)),
            read_at: wallet.readAt.toISOString(),
            current: wallet.isCurrent,
            low_since: instantJson(wallet.lowSince),
          },
    spend: {
      day: gate.day,
      spent: gate.spent.map(paddedMoney),
      limits: gate.limits.map(({ apiKey, limit, spent: amount }) => ({
        api_key_id: apiKey?.id ?? null,
        name: apiKey?.name ?? null,
        limit: paddedMoney(limit),
        spent: paddedMoney({ amount, currency: limit.currency }),
      })),
    },
  };
}

function circuitJson(name: CircuitName, circuits: GateOverview['circuits']): z.input<typeof circuitOutput> {
  const row = circuits.find((each) => each.name === name);
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
