import * as z from 'zod';

const content = z.looseObject({
  schema: z.unknown(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.looseObject({ value: z.unknown().optional() })).optional(),
});
const body = z.looseObject({ content: z.record(z.string(), content).optional() });
/** The parts of an OpenAPI document that tests read. */
export const openApi = z.looseObject({
  openapi: z.string(),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({ operationId: z.string(), requestBody: body.optional(), responses: z.record(z.string(), body) }),
    ),
  ),
});
