import { describe, expect, it } from 'vitest';
import { apiOfFile } from '#test/integration/api/support.ts';

const { caller } = await apiOfFile();

describe('the update check', () => {
  it('sends the version and channel to the service, with stable as default', async () => {
    const latest = await caller.get('/v1/updates/latest?current_version=2.3.0');
    const stable = { latest_version: '2.4.1', update_available: true, channel: 'stable' };
    expect(latest.body).toMatchObject({ ...stable, download_url: null, age_seconds: 0 });
    const beta = await caller.get('/v1/updates/latest?current_version=2.4.1&channel=beta');
    expect(beta.body).toMatchObject({ update_available: false, channel: 'beta' });
  });
});
