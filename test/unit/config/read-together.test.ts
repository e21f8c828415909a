import { describe, expect, it } from 'vitest';
import { runSandboxTour } from '#cli/sandbox-tour/sandbox.ts';
import { showCapabilities } from '#cli/service/capabilities.ts';
import { ConfigurationError, problemText } from '#config/configuration-error.ts';
import { policyFile } from '#test/support/servers/policy-files.ts';

const problemsOf = async (command: Promise<unknown>) => {
  const error: unknown = await command.catch((thrown: unknown) => thrown);
  return error instanceof ConfigurationError ? error.problems.map(problemText).toSorted() : error;
};

const SERVICE = ['SERVICE_BASE_URL is missing', 'SERVICE_EMAIL is missing', 'SERVICE_PASSWORD is missing'];

describe('a command that needs several parts of the configuration', () => {
  it('lists all missing variables at once', async () => {
    expect(await problemsOf(showCapabilities({}, {}))).toEqual(['DATABASE_URL is missing', ...SERVICE]);
    const wrong = { POLICY_FILE: policyFile({ 'purchase.resend_window': 'long' }) };
    expect(await problemsOf(runSandboxTour({ store: true }, wrong))).toEqual([
      expect.stringMatching(/^\/.*policy\.yaml:3:22: purchase\.resend_window: must be a duration/),
      'DATABASE_URL is missing',
      ...SERVICE,
    ]);
  });

  it('does not require variables of other parts', async () => {
    expect(await problemsOf(runSandboxTour({ store: false }, {}))).toEqual(SERVICE);
  });
});
