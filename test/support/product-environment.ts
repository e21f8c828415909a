import { ConfigurationError, problemText, type ConfigurationProblem } from '#config/configuration-error.ts';

/** With these variables API and worker start. Nothing listens at the addresses. */
export const PRODUCT_ENVIRONMENT = {
  DATABASE_URL: 'postgres://reseller:geheim@127.0.0.1:1/reseller',
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
  SERVICE_BASE_URL: 'https://service.example/api/reseller/v1',
  SERVICE_EMAIL: 'shop@example.com',
  SERVICE_PASSWORD: 'geheim',
};

export function problemsIn(read: () => unknown): readonly ConfigurationProblem[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

export const problemsOf = (read: () => unknown) => problemsIn(read).map(problemText);
