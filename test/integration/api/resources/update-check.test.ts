import { describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

describe('the update check', () => {
  it('sends the version and channel to the service, with stable as default', async () => {
    const latest = await caller.get('/v1/updates/latest?current_version=2.3.0');
    expect(latest.body).toMatchObject({
      latest_version: '2.4.1',
      update_available: true,
      channel: 'stable',
      download_url: null,
      age_seconds: 0,
    });
    expect((await caller.get('/v1/updates/latest?current_version=2.4.1&channel=beta')).body).toMatchObject({
      update_available: false,
      channel: 'beta',
    });
  });
});
