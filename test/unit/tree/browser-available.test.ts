import { describe, expect, it, vi } from 'vitest';
import { browserAvailable } from '#test/support/network/browser.ts';

describe('the tests in a browser', () => {
  it('run when Chromium exists', () => {
    expect(browserAvailable({ path: '/usr/bin/chromium', environment: { CI: 'true' } })).toBe(true);
  });

  it('fail in CI without Chromium, so that missing tests do not count as passed', () => {
    expect(() => browserAvailable({ path: undefined, environment: { CI: 'true' } })).toThrow('Chromium is missing');
  });

  it.each([{}, { CI: '' }])('are skipped elsewhere, with a message (%j)', (environment) => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(browserAvailable({ path: undefined, environment })).toBe(false);
    expect(said).toHaveBeenCalledWith(expect.stringContaining('DO NOT RUN'));
    said.mockRestore();
  });
});
