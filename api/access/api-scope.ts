import * as z from 'zod';
import { apiScopes, type ApiScope } from '#db/access/api-keys.ts';

/** What a key may do. */
export const apiScope = z
  .enum(apiScopes as [ApiScope, ...ApiScope[]])
  .meta({ id: 'ApiScope', description: 'A scope of an API key.' });
