import { describe, expect, it } from 'vitest';
import { refuseOptionsTakenByNpm } from '#cli/start/start-command.ts';

const OPTIONS = ['--no-demo', '--data', '--api-port'];
const refusing = (environment: Record<string, string>) => () => refuseOptionsTakenByNpm(OPTIONS, environment);

describe('options of a start that npm kept', () => {
  it.each([
    [{ npm_config_demo: '' }, '--no-demo'],
    [{ npm_config_api_port: 'true' }, '--api-port'],
    [{ npm_config_demo: '', npm_config_data: 'true' }, '--no-demo --data'],
  ])('%j are refused, with what to type', (environment, options) => {
    expect(refusing({ PATH: '/bin', ...environment })).toThrow(
      expect.objectContaining({
        advice: `Put \`--\` before the options: npm start -- ${options}`,
      }) as Error,
    );
  });

  it('are refused with the script that was run', () => {
    expect(refusing({ npm_lifecycle_event: 'start:cluster', npm_config_api_port: 'true' })).toThrow(
      expect.objectContaining({ advice: expect.stringContaining('npm run start:cluster -- --api-port') }) as Error,
    );
  });

  it('are none when npm has only its own settings', () => {
    expect(refusing({ npm_config_registry: 'https://registry.example', npm_config_cache: '/cache' })).not.toThrow();
  });
});
