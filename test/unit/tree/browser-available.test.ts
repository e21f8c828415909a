import { describe, expect, it, vi } from 'vitest';
import { browserAvailable } from '#test/support/network/browser.ts';

describe('the tests in a browser', () => {
  it('run where Chromium is', () => {
    expect(browserAvailable({ path: '/usr/bin/chromium', environment: { CI: 'true' } })).toBe(true);
  });

  it('fail in CI where there is none, so that nobody takes them for passed', () => {
    expect(() => browserAvailable({ path: undefined, environment: { CI: 'true' } })).toThrow('Chromium is missing');
  });

  it.each([{}, { CI: '' }])('are left out elsewhere, and say so (%j)', (environment) => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(browserAvailable({ path: undefined, environment })).toBe(false);
    expect(said).toHaveBeenCalledWith(expect.stringContaining('DO NOT RUN'));
    said.mockRestore();
  });
});
