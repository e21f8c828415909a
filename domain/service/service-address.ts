/** `{base_url}` ends with this (specification, Versioning). */
export const BASE_PATH = '/api/reseller/v1';

/** `{sandbox_url}` is `{base_url}` followed by this. */
export const SANDBOX_SUFFIX = '/sandbox';

export type ServiceMode = 'production' | 'sandbox';

/** The address that calls go to. @param baseUrl `{base_url}`, without a trailing slash. */
export function serviceAddress(baseUrl: string, mode: ServiceMode): string {
  return mode === 'sandbox' ? `${baseUrl}${SANDBOX_SUFFIX}` : baseUrl;
}
