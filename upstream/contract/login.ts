/** The login, under the production address and under that of the sandbox. */
import * as z from 'zod';
import type { EndpointContract } from '#upstream/contract/endpoint.ts';
import { wireTime, wireValue } from '#upstream/contract/fields.ts';

export const loginRequest = z.object({
  email: z.email(),
  password: z.string().min(1),
  device_name: z.string().min(1).max(255),
  /** Accepted on production login only. */
  expires_in_days: z.int().min(1).max(3650).optional(),
});
export type LoginRequest = z.input<typeof loginRequest>;

const loginResponse = z.object({
  /** Visible ASCII, because it goes into a header. */
  access_token: z.string().regex(/^[\x21-\x7e]{1,8192}$/),
  /** Not used: the specification says that every call takes a Bearer token. */
  token_type: wireValue.nullish(),
  expires_at: wireTime.nullish(),
});
export type LoginResponse = z.output<typeof loginResponse>;

export const LOGIN_ENDPOINTS = {
  login: {
    method: 'POST',
    path: '/login',
    purpose: 'Creates an API token; under {sandbox_url} a sandbox token.',
    mark: 'shape assumed',
    reason:
      'The names of the fields for the token and its expiry are not shown; access_token and expires_at are ' +
      'usual names.',
    withoutToken: true,
    body: loginRequest,
    answer: loginResponse,
    record: 'access',
  },
} as const satisfies Record<string, EndpointContract>;
