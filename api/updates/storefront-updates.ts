import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { ageOf, freshness, instant } from '#api/fields/fields.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { valueOf } from '#api/problems/problem.ts';

const updateOutput = z
  .strictObject({
    latest_version: z.string().meta({ example: '2.4.1' }),
    update_available: z.boolean(),
    channel: z.string().nullable().meta({ example: 'stable' }),
    download_url: z.string().nullable(),
    checksum_sha256: z.string().nullable(),
    release_notes: z.string().nullable(),
    released_at: instant.nullable(),
    ...freshness,
  })
  .meta({
    id: 'LatestUpdate',
    example: {
      update_available: true,
      download_url: 'https://downloads.example.com/storefront-2.4.1.zip',
      released_at: '2030-01-15T09:00:00.000Z',
    },
  });

const query = z.strictObject({
  current_version: z
    .string()
    .max(64)
    .regex(/^\d+(?:\.\d+)*$/, 'must be dotted numbers')
    .meta({ description: 'Installed version of the storefront, dotted numbers.', example: '2.3.0' }),
  channel: z
    .string()
    .regex(/^[\x21-\x7e]{1,64}$/, 'must have 1 to 64 visible ASCII characters')
    .default('stable')
    .meta({
      description: 'Release channel.',
      override: { type: 'string', pattern: '^[\\x21-\\x7e]{1,64}$', default: 'stable' },
    }),
});

export function storefrontUpdateOperations({ service, now }: ApiDependencies): Operation[] {
  return [
    operation('GET /v1/updates/latest', {
      id: 'getLatestUpdate',
      summary: 'Check for an update of the storefront application',
      description: 'Read from the service at each call.',
      scope: 'updates:read',
      query,
      answers: { 200: jsonAnswer('The latest version of the channel.', updateOutput) },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ query: { current_version: currentVersion, channel } }) => {
        const update = valueOf(await service.getLatestUpdate({ currentVersion, channel }));
        return jsonReply(200, {
          latest_version: update.latest_version,
          update_available: update.update_available,
          channel: update.channel ?? null,
          download_url: update.download_url ?? null,
          checksum_sha256: update.checksum_sha256 ?? null,
          release_notes: update.release_notes ?? null,
          released_at: update.released_at ?? null,
          ...ageOf(now(), now()),
        });
      },
    }),
  ];
}
