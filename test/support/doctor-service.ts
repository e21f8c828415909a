import type { ServiceConfig } from '#config/config.ts';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { BASE_PATH } from '#domain/service/service-address.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

/** The configuration of a service in the sandbox, with these changes. */
export const config = (changes: Partial<ServiceConfig> = {}): ServiceConfig => ({
  proxy: undefined,
  baseUrl: `https://service.example${BASE_PATH}`,
  mode: 'sandbox',
  email: 'shop@example.com',
  password: 'secret',
  deviceName: 'backend',
  tokenDays: undefined,
  capabilities: ALL_CAPABILITIES,
  resendAllowed: true,
  ...changes,
});

export const failed = (failure: ServiceFailure['failure']): ServiceFailure => ({
  ok: false,
  kind: 'failure',
  failure,
  detail: 'The service answered something.',
});
