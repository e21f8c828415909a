import type * as z from 'zod';
import { createSchema } from 'zod-openapi';

/**
 * The OpenAPI schema of a body on the wire. The contract's answers transform what they read (ids to text, amounts to
 * exact decimals), so the wire format is their input side.
 */
export function wireSchema(schema: z.ZodType): ReturnType<typeof createSchema>['schema'] {
  return createSchema(schema, { io: 'input', openapiVersion: '3.1.0' }).schema;
}
