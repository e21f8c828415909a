import { expect, it } from 'vitest';
import { readSettings } from '#simulator/options.ts';

it('the simulator’s configuration reports all errors, and the document that explains it', () => {
  const read = () => readSettings({ SIMULATOR_PORT: 'many', SIMULATOR_DIALECT: 'polite', SIMULATOR_WEBHOOK_URL: '' });
  expect(read).toThrow(/SIMULATOR_PORT: [^]*SIMULATOR_DIALECT: [^]*See docs\/simulator\.md\.$/);
});

it('the simulator takes no webhook secret without an address', () => {
  expect(() => readSettings({ SIMULATOR_WEBHOOK_SECRET: 'whsec_test' })).toThrow('SIMULATOR_WEBHOOK_URL is missing');
});
