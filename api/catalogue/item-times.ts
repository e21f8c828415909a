import { instant, instantJson } from '#api/fields/instant.ts';

/** When an item of the catalogue appeared, changed and disappeared, by our readings. */
export const itemTimes = {
  created_at: instant.meta({ description: 'When we first read it.', example: '2030-01-01T12:00:00.000Z' }),
  updated_at: instant.meta({ description: 'When we first read its present state.' }),
  removed_at: instant
    .nullable()
    .meta({ description: 'When we found that the service no longer lists it; null while it does.' }),
};

export function itemTimesJson(row: {
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly removedAt: Date | null;
}) {
  return {
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    removed_at: instantJson(row.removedAt),
  };
}
