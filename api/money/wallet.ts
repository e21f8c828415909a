import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { ageOf, freshness, instant, instantJson, enumOf, money, usd } from '#api/fields/fields.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { valueOf } from '#api/problems/problem.ts';
import { paddedMoney, plainAmount } from '#domain/money/money.ts';
import { RUNWAY_UNKNOWNS, thresholdDays } from '#domain/money/runway.ts';
import { lastRunway, readRunway, type RunwayCalculation } from '#fulfilment/upkeep/runway.ts';
import { CachedRead } from '#upstream/cached-read.ts';

/** Polling dashboards must not cause a call to the service each time. */
const MAX_AGE_MS = 3_000;

const walletOutput = z
  .strictObject({ balance: money.meta({ description: 'Balance of the wallet at the service.' }), ...freshness })
  .meta({ id: 'Wallet', example: { balance: usd('1250.00') } });

const days = z.number().min(0);

const runwayOutput = z
  .strictObject({
    status: z.enum(['known', 'unknown']).meta({ description: '`unknown`: there is no number, see `reason`.' }),
    reason: enumOf(RUNWAY_UNKNOWNS).nullable().meta({ description: 'Why the runway is not known.' }),
    detail: z.string().nullable().meta({ description: 'The reason as a sentence.' }),
    days: days.nullable().meta({
      description: 'Number of days that the wallet lasts at the mean of recent sales, without growth.',
      example: 12.4,
    }),
    earliest_days: days.nullable().meta({
      description: 'With sales one standard deviation above the mean; days count as independent.',
      example: 10.9,
    }),
    latest_days: days
      .nullable()
      .meta({ description: 'With sales one standard deviation below the mean.', example: 14.1 }),
    daily_sales: z
      .strictObject({
        mean: money,
        deviation: money,
        days: z.int().meta({ description: 'Number of evaluated days of 24 hours.', example: 14 }),
      })
      .nullable(),
    wallet: z
      .strictObject({
        balance: money,
        reserved: money.meta({ description: 'Amount that running purchases may still take.' }),
        held: money.meta({ description: 'Total of purchases held at the purchase gate with a known price.' }),
        available: money.meta({ description: 'The balance less both; may be below zero.' }),
        read_at: instant,
        age_seconds: z.number(),
      })
      .nullable()
      .meta({
        description:
          'The balance at the last read for a purchase or a comparison of the books; null when it is not known.',
      }),
    held_without_price: z
      .int()
      .meta({ description: 'Number of held purchases without a known price; the figures do not contain them.' }),
    threshold_days: days.meta({ description: 'Below this the event `wallet.runway_low` is announced.', example: 3 }),
    low_since: instant.nullable(),
  })
  .meta({
    id: 'WalletRunway',
    example: {
      daily_sales: { mean: usd('98.85'), deviation: usd('41.20'), days: 14 },
      wallet: {
        balance: usd('1250.00'),
        reserved: usd('24.00'),
        held: usd('0.00'),
        available: usd('1226.00'),
        read_at: '2030-01-31T12:00:00.000Z',
        age_seconds: 421.5,
      },
    },
  });

export function walletOperations({ database, service, runway: policy, now }: ApiDependencies): Operation[] {
  const cached = new CachedRead(async () => valueOf(await service.getWallet()), { maxAgeMs: MAX_AGE_MS, now });
  return [
    operation('GET /v1/wallet', {
      id: 'getWallet',
      summary: 'Read the balance at the service',
      scope: 'wallet:read',
      answers: { 200: jsonAnswer('The balance, a few seconds old at most.', walletOutput) },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async () => {
        const { value, readAt } = await cached.get();
        return jsonReply(200, {
          balance: { amount: plainAmount(value.balance), currency: value.currency },
          ...ageOf(readAt, now()),
        });
      },
    }),
    operation('GET /v1/wallet/runway', {
      id: 'getWalletRunway',
      summary: 'Read how long the wallet lasts',
      description:
        'Computed from completed sales of recent days and from reserved and held amounts. An unknown value is ' +
        'null, with the reason.',
      scope: 'wallet:read',
      answers: { 200: jsonAnswer('The runway.', runwayOutput) },
      handle: async () => {
        const at = now();
        const [view, last] = await database.run(
          async (db) => [await readRunway(db, policy, at), await lastRunway(db)] as const,
        );
        return jsonReply(200, runwayJson(view, thresholdDays(policy), last?.lowSince ?? null, at));
      },
    }),
  ];
}

function runwayJson(
  { runway, known: { wallet, reserved, held, heldWithoutPrice } }: RunwayCalculation,
  threshold: number,
  lowSince: Date | null,
  now: number,
): z.input<typeof runwayOutput> {
  const known = runway.kind === 'known' ? runway : undefined;
  const reason = runway.kind === 'unknown' ? runway.reason : null;
  return {
    status: runway.kind,
    reason,
    detail: reason === null ? null : RUNWAY_UNKNOWNS[reason],
    days: known?.days ?? null,
    earliest_days: known?.earliestDays ?? null,
    latest_days: known?.latestDays ?? null,
    daily_sales: known?.sales ?? null,
    wallet:
      wallet === undefined || runway.available === undefined
        ? null
        : {
            balance: paddedMoney(wallet.balance),
            reserved: paddedMoney(reserved),
            held: paddedMoney(held),
            available: runway.available,
            ...ageOf(wallet.readAt, now),
          },
    held_without_price: heldWithoutPrice,
    threshold_days: threshold,
    low_since: instantJson(lowSince),
  };
}
