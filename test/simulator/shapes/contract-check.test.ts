import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPATIBLE, checkContractFile } from '#cli/service/contract.ts';
import { capabilities } from '#domain/service/capability-profile.ts';
import { DIALECTS, type Dialect } from '#simulator/behaviour/dialect.ts';
import { describedService } from '#simulator/service/openapi.ts';
import { PLAIN } from '#simulator/shapes/shape.ts';
import { Shaper } from '#simulator/shapes/shaper.ts';
import type { Environment } from '#simulator/store/store.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

/** `reseller contract check` on the simulator's own document. */
async function check(dialect: Dialect, environment: Environment, without: readonly string[] = []) {
  const file = join(temporaryFolder('contract'), 'openapi.json');
  writeFileSync(file, JSON.stringify(describedService(dialect, environment, new Shaper(PLAIN))));
  let stdout = '';
  const stream = {
    write: (text: string | Uint8Array) => {
      stdout += String(text);
      return true;
    },
  };
  const code = await checkContractFile(
    file,
    {},
    { SERVICE_MISSING_CAPABILITIES: without.join(',') },
    { stdout: stream, stderr: stream },
  );
  return { code, stdout };
}

/** The capabilities missing in a dialect, as names for SERVICE_MISSING_CAPABILITIES. */
function missingIn(dialect: Dialect): string[] {
  return capabilities.filter((capability) => capability !== 'key_replay' && !dialect[`has_${capability}`]);
}

describe('the OpenAPI document of the simulator', () => {
  it('is compatible with our contract in every call and every event', async () => {
    const { code, stdout } = await check(DIALECTS.replays, 'sandbox');
    expect({ code, stdout }).toMatchObject({
      code: COMPATIBLE,
      stdout: expect.stringMatching(
        /^27 calls: 27 match, 0 differ, 0 missing, 0 switched off; 14 of 14 events described\.$/m,
      ),
    });
    expect(await check(DIALECTS.replays, 'production')).toMatchObject({ code: COMPATIBLE });
  });

  // The other dialects differ in behaviour, not in their documents.
  it.each(['no_order_read', 'no_lookup', 'bare', 'open_reads'] as const)(
    'is compatible in the dialect %s with its missing capabilities switched off',
    async (name) => {
      const { code, stdout } = await check(DIALECTS[name], 'sandbox', missingIn(DIALECTS[name]));
      expect({ code, stdout }).toMatchObject({ code: COMPATIBLE });
    },
  );
});
