import * as z from 'zod';
import { apiScopes, type ApiScope } from '#db/access/api-keys.ts';

/** A scope of an API key. */
export const apiScope = z
  .enum(apiScopes as [ApiScope, ...ApiScope[]])
  .meta({ id: 'ApiScope', description: 'A scope of an API key.' });
