import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createLogger } from '#telemetry/logger.ts';
import { createSdkLogger } from '#temporal/sdk-runtime.ts';

describe('log entries of the Temporal SDK', () => {
  it('are redacted, and keep their level, fields and error', () => {
    const lines: string[] = [];
    const sdk = createSdkLogger(
      createLogger({ level: 'debug', name: 'worker' }, { write: (line) => void lines.push(line) }),
    );
    sdk.trace('below our level');
    sdk.debug('polling');
    sdk.info('started', { taskQueue: 'reseller' });
    sdk.warn('activity failed', { error: new Error('LPA:1$smdp.example.com$CANARY'), imei: 'CANARY' });
    sdk.error('stopped');
    const entries = lines.map((line) => z.looseObject({ level: z.string(), msg: z.string() }).parse(JSON.parse(line)));
    expect(entries.map(({ level }) => level)).toEqual(['debug', 'info', 'warn', 'error']);
    expect(entries[1]).toMatchObject({ msg: 'started', taskQueue: 'reseller' });
    expect(entries[2]).toMatchObject({ imei: '[redacted]', err: { message: 'LPA:[redacted]' } });
    expect(lines.join('')).not.toContain('CANARY');
  });
});
