import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { apiScope, createdBy, instant, instantJson, money, ourId, usd } from '#api/fields/fields.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { findApiKeyById, lineageOf, spendLimitOf, apiScopes } from '#db/access/api-keys.ts';
import { compareMoney, paddedMoney, subtractMoney, type Money } from '#domain/money/money.ts';
import { spendOfKey } from '#fulfilment/gate/overview.ts';

const keyOutput = z
  .strictObject({
    id: ourId('apiKey'),
    name: z.string().meta({ example: 'shop' }),
    prefix: z
      .string()
      .meta({ description: 'The public part of the key, between its underscores.', example: 'a1B2c3D4' }),
    scopes: z.array(apiScope).meta({ description: 'The scopes of the key.', example: ['orders:read', 'orders:write'] }),
    own_work_only: z.boolean().meta({ description: 'True: the key sees and changes only what was created with it.' }),
    created_by: createdBy.meta({
      description:
        'Resources created with this key have this id as `created_by`: that of the first key of its lineage.',
    }),
    created_at: instant,
    expires_at: instant.nullable(),
    requests_per_minute: z
      .int()
      .nullable()
      .meta({
        description:
          'Limit of each API process; null: not limited. The requests of ten seconds may come at once, which is what ' +
          'the `RateLimit` headers count.',
        example: 600,
      }),
    spend: z
      .strictObject({
        day: z.string().meta({ description: 'The day (UTC).', example: '2030-01-31' }),
        limit: money,
        spent: money.meta({ description: 'Spent or possibly spent today.' }),
        left: money.meta({
          description: 'The remaining amount; a purchase that costs more is held until the next day.',
        }),
      })
      .nullable()
      .meta({
        description:
          "The key's daily limit; null when it has none. The limit of all keys together is in `GET /v1/purchase-gate`.",
      }),
  })
  .meta({
    id: 'OwnKey',
    example: {
      scopes: ['orders:read', 'orders:write', 'esims:read'],
      created_at: '2030-01-01T00:00:00.000Z',
      expires_at: '2031-01-01T00:00:00.000Z',
      spend: { day: '2030-01-31', limit: usd('500.00'), spent: usd('31.00'), left: usd('469.00') },
    },
  });

export function ownKeyOperations({ database, rateLimits, now }: ApiDependencies): Operation[] {
  return [
    operation('GET /v1/key', {
      id: 'getOwnKey',
      summary: 'Read the scopes and limits of your API key',
      scope: 'none',
      answers: { 200: jsonAnswer('The key of this call.', keyOutput) },
      handle: async ({ caller: { apiKeyId } }) => {
        const { key, spend } = await database.run(async (db) => {
          const found = await findApiKeyById(db, apiKeyId);
          // Keys are revoked, never deleted.
          if (found === undefined) throw new Error(`the API key ${apiKeyId} was accepted and cannot be read`);
          const limit = spendLimitOf(found);
          return {
            key: found,
            spend: limit && { limit, ...(await spendOfKey(db, { lineageId: lineageOf(found), limit }, now())) },
          };
        });
        return jsonReply(200, {
          id: key.id,
          name: key.name,
          prefix: key.prefix,
          scopes: apiScopes.filter((scope) => key.scopes.includes(scope)),
          own_work_only: key.ownWorkOnly,
          created_by: lineageOf(key),
          created_at: key.createdAt.toISOString(),
          expires_at: instantJson(key.expiresAt),
          requests_per_minute: key.rateLimit ?? rateLimits.perMinute ?? null,
          spend:
            spend === undefined
              ? null
              : {
                  day: spend.day,
                  limit: paddedMoney(spend.limit),
                  spent: paddedMoney(spend.spent),
                  left: paddedMoney(leftOf(spend)),
                },
        } satisfies z.input<typeof keyOutput>);
      },
    }),
  ];
}

/** Never below zero: the limit may have been lowered. */
function leftOf({ limit, spent }: { readonly limit: Money; readonly spent: Money }): Money {
  return compareMoney(spent, limit) >= 0 ? { amount: '0', currency: limit.currency } : subtractMoney(limit, spent);
}
