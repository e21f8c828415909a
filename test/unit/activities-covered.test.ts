import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readWorkerConfig } from '#config/config.ts';
import { createWorkerParts } from '#worker/parts.ts';
import { PROJECT } from '#test/support/compose.ts';

/** The names in calls of `twice` and `expectTwiceToTheEnd`, which hold them against the activity that was run. */
const IN_TWICE = /\b(?:twice|expectTwiceToTheEnd)\(\s*'(?<activity>\w+)'/g;

describe('the activities that the worker registers', () => {
  it('are each run twice with the same input by a test', async () => {
    const parts = createWorkerParts(
      readWorkerConfig({
        DATABASE_URL: 'postgresql://reseller@127.0.0.1:1/reseller',
        ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
        SERVICE_BASE_URL: 'http://127.0.0.1:1/api/reseller/v1',
        SERVICE_EMAIL: 'shop@example.com',
        SERVICE_PASSWORD: 'secret',
        SERVICE_WEBHOOK_SECRETS: 'whsec_not_used_here',
      }),
    );
    await parts.close();
    const folder = join(PROJECT, 'test/integration');
    const tests = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    const covered = new Set(tests.flatMap((text) => [...text.matchAll(IN_TWICE)].map(({ groups }) => groups?.['activity'])));
    const registered = Object.keys({ ...parts.activities, ...parts.webhookActivities });
    expect(registered.length).toBeGreaterThan(10);
    // Whoever adds one writes such a test beside those in `activities-twice*.test.ts`.
    expect(registered.filter((name) => !covered.has(name))).toEqual([]);
    expect([...covered].filter((name) => name === undefined || !registered.includes(name))).toEqual([]);
  });
});
