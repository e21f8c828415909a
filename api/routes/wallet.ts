import * as z from 'zod';
import { CachedRead } from '#api/cached-read.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { currency, instant } from '#api/fields.ts';
import { operation, type Operation } from '#api/operation.ts';
import { jsonReply } from '#api/reply.ts';
import { plainAmount } from '#api/representations.ts';
import { valueOf } from '#api/service-problem.ts';

/** A balance changes with each order, but a dashboard that polls need not be passed on. */
const MAX_AGE_MS = 3_000;

const walletOutput = z
  .strictObject({
    balance: z.string().meta({ description: 'What the wallet at the service holds.', example: '1250.00' }),
    currency,
    read_at: instant.meta({ description: 'When this was read from the service.' }),
    age_seconds: z.number().meta({ description: 'How long ago that was.', example: 0.8 }),
  })
  .meta({ id: 'Wallet' });

/** The reseller's wallet at the service. */
export function walletOperations({ service, now }: ApiDependencies): Operation[] {
  const cached = new CachedRead(async () => valueOf(await service.getWallet()), { maxAgeMs: MAX_AGE_MS, now });
  return [
    operation({
      id: 'getWallet',
      method: 'get',
      path: '/v1/wallet',
      tag: 'Wallet',
      summary: 'Read the balance at the service',
      scope: 'wallet:read',
      accountWide: true,
      answers: {
        200: {
          description: 'The balance, a few seconds old at most.',
          contentType: 'application/json',
          schema: walletOutput,
          example: { balance: '1250.00', currency: 'EUR', read_at: '2030-01-31T12:00:00.000Z', age_seconds: 0.8 },
        },
      },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async () => {
        const { value, readAt } = await cached.get();
        return jsonReply(200, {
          balance: plainAmount(value.balance),
          currency: value.currency,
          read_at: new Date(readAt).toISOString(),
          age_seconds: Math.max(0, now() - readAt) / 1_000,
        });
      },
    }),
  ];
}
