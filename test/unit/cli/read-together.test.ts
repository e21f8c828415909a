import { describe, expect, it } from 'vitest';
import { runSandboxTour } from '#cli/sandbox-tour/sandbox.ts';
import { showCapabilities } from '#cli/service/capabilities.ts';
import { ConfigurationError } from '#config/fields.ts';

const problemsOf = async (command: Promise<unknown>) => {
  const error: unknown = await command.catch((thrown: unknown) => thrown);
  return error instanceof ConfigurationError ? error.problems.toSorted() : error;
};

const SERVICE = ['SERVICE_BASE_URL is missing', 'SERVICE_EMAIL is missing', 'SERVICE_PASSWORD is missing'];

describe('a command that needs several parts of the configuration', () => {
  it('lists all missing variables at once', async () => {
    expect(await problemsOf(showCapabilities({}, {}))).toEqual(['DATABASE_URL is missing', ...SERVICE]);
    const wrong = { POLICY_RESEND_WINDOW: 'long' };
    expect(await problemsOf(runSandboxTour({ store: true }, wrong))).toEqual([
      'DATABASE_URL is missing',
      expect.stringMatching(/^POLICY_RESEND_WINDOW: /),
      ...SERVICE,
    ]);
  });

  it('does not require variables of other parts', async () => {
    expect(await problemsOf(runSandboxTour({ store: false }, {}))).toEqual(SERVICE);
  });
});
