import * as z from 'zod';

export const country = z
  .string()
  .regex(/^[A-Z]{2}$/, 'must be an ISO 3166-1 alpha-2 code in upper case, such as DE')
  .meta({ description: 'ISO 3166-1 alpha-2 code.', example: 'DE' });
