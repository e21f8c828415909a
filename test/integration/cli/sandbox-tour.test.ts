/** The stored result of a tour, and its import into production. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { examine } from '#cli/doctor/examine.ts';
import { profileFrom } from '#cli/sandbox-tour/profile.ts';
import { runSandboxTour } from '#cli/sandbox-tour/sandbox.ts';
import { confirmCapabilities, importCapabilities, showCapabilities } from '#cli/service/capabilities.ts';
import { installation } from '#db/schema.ts';
import {
  addCapabilityProfile,
  confirmCapabilityProfile,
  newestCapabilityProfile,
} from '#db/service/capability-profiles.ts';
import type { MeasuredProfile } from '#domain/service/capability-profile.ts';
import { EMAIL, PASSWORD, startTestSimulator } from '#test/simulator/support.ts';
import { captured } from '#test/support/cli-output.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { startProcess } from '#test/support/servers/processes.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const REPORT = z.object({
  exit_code: z.int(),
  stored_as: z.string().nullable(),
  profile: z.object({ findings: z.record(z.string(), z.boolean().nullable()) }),
});
const QUICK = { store: true, keyAge: 0, wait: 5_000 };

const simulator = disposedAtEnd(await startTestSimulator());
const sandbox = disposedAtEnd(await openTestDatabase());
const production = disposedAtEnd(await openTestDatabase());
const folder = temporaryFolder('tour');

const environmentOf = (database: { readonly url: string }, changes: Record<string, string> = {}) => ({
  DATABASE_URL: database.url,
  SERVICE_BASE_URL: simulator.simulator.baseUrl,
  SERVICE_EMAIL: EMAIL,
  SERVICE_PASSWORD: PASSWORD,
  ...changes,
});
const inProduction = environmentOf(production, { SERVICE_MODE: 'production' });

/** Runs a command in this process. @returns its output. */
async function printed(run: (output: ReturnType<typeof captured>) => Promise<unknown>): Promise<string> {
  const output = captured();
  await run(output);
  return output.text();
}

describe('reseller sandbox tour', () => {
  it('stores the measured profile in the database of this sandbox, and prints it', async () => {
    await using command = await startProcess({
      name: 'tour',
      script: 'cli/main.ts',
      args: ['sandbox', 'tour', '--json', '--key-age', '0s', '--wait', '5s', '--also', '9001,9003'],
      environment: environmentOf(sandbox),
    });
    const { code } = await command.exit();
    const report = REPORT.parse(JSON.parse(command.output()));
    expect({ code, stated: report.exit_code }).toEqual({ code: 0, stated: 0 });
    const stored = await sandbox.database.run((db) => newestCapabilityProfile(db, 'sandbox'));
    expect(stored).toMatchObject({ findings: report.profile.findings, confirmation: undefined });
    expect(String(stored?.id)).toBe(report.stored_as);
    expect(report.profile.findings).toMatchObject({ key_replay: true, order_read: true, webhook_secret: true });
    const stamps = await sandbox.database.run((db) => db.select().from(installation));
    expect(stamps).toMatchObject([{ serviceBaseUrl: simulator.simulator.baseUrl, serviceMode: 'sandbox' }]);
  });

  it('prints steps and capabilities, and stores nothing with --no-store', async () => {
    const environment = { ...environmentOf(sandbox), DATABASE_URL: 'postgres://127.0.0.1:1/none' };
    const text = await printed((output) => runSandboxTour({ ...QUICK, store: false }, environment, output));
    expect(text).toMatch(/^✔ cancellation {2}the refund result "manual review": seen$/m);
    expect(text).toMatch(/^✔ key_replay {12}/m);
    expect(text).toMatch(/, \d+\.\d\d USD spent\.$/m);
    expect(text.trimEnd()).toMatch(/Not stored\.$/);
  });

  const elsewhere = { SERVICE_BASE_URL: 'http://127.0.0.1:1/api/reseller/v1' };
  it.each([
    ['in production', inProduction, /real money/],
    ['on a database of another service', environmentOf(sandbox, elsewhere), /another service/],
    ['without a database to store in', environmentOf({ url: 'postgres://127.0.0.1:1/none' }), /PostgreSQL/],
  ])('%s sends nothing', async (_, environment, message) => {
    const requests = async () => (await simulator.requests('limit=10000')).length;
    const before = await requests();
    await expect(runSandboxTour(QUICK, environment, captured())).rejects.toThrow(message);
    expect(await requests()).toBe(before);
  });
});

describe('the transfer of a profile to production', () => {
  const environment = inProduction;
  const doctorLine = async () => {
    // An unreachable address.
    const others = { ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`, TEMPORAL_ADDRESS: 'nowhere' };
    return (await examine({ ...environment, ...others })).capabilities;
  };
  const shown = (options: { json?: boolean } = {}) =>
    printed((output) => showCapabilities(options, environment, output));
  const confirmed = (by: string) => printed((output) => confirmCapabilities({ by }, environment, output));

  it('is imported from the report, enables nothing before its confirmation, and then prints its effects', async () => {
    expect(await shown()).toMatch(/No capability profile/);
    // Reading a new database does not stamp it.
    expect(await production.database.run((db) => db.select().from(installation))).toEqual([]);
    await expect(confirmCapabilities({ by: 'Ada' }, environment)).rejects.toThrow(/No capability profile/);
    expect(await doctorLine()).toMatchObject({ status: 'warning', detail: expect.stringContaining('never measured') });

    const file = join(folder, 'tour.json');
    const options = { ...QUICK, json: true };
    writeFileSync(file, await printed((output) => runSandboxTour(options, environmentOf(sandbox), output)));
    await importCapabilities(file, environment, captured());
    const unconfirmed = await shown();
    expect(unconfirmed).toMatch(/not confirmed/);
    expect(unconfirmed).toMatch(/automatic resends \(production\): off.*not confirmed/);
    const advice = expect.stringContaining('capabilities confirm');
    expect(await doctorLine()).toMatchObject({ status: 'warning', advice });

    const told = await confirmed('Ada');
    expect(told).toMatch(/confirmed by Ada/);
    expect(told).toMatch(/switches on: automatic resends/);
    expect(await shown()).toMatch(/automatic resends \(production\): on/);
    expect(await doctorLine()).toMatchObject({ status: 'ok', detail: expect.stringContaining('confirmed by Ada') });
    expect(await confirmed('Bob')).toMatch(/confirmed by Ada .*already/);

    // A newer profile is in use now, and it is not confirmed.
    await importCapabilities(file, environment, captured());
    const unconfirmedAgain = { confirmed_by: null, allows: { resends: { allowed: false } } };
    expect(JSON.parse(await shown({ json: true }))).toMatchObject(unconfirmedAgain);
  });

  it('is refused when it was measured at another service, or the file has no profile', async () => {
    const file = join(folder, 'other.json');
    const profile = {
      environment: 'sandbox',
      service_base_url: 'https://other.example/api/reseller/v1',
      measured_at: '2026-01-01T00:00:00Z',
      findings: {},
      evidence: {},
    };
    writeFileSync(file, JSON.stringify(profile));
    await expect(importCapabilities(file, environment)).rejects.toThrow(/other\.example/);
    writeFileSync(file, '{"findings":{}}');
    await expect(importCapabilities(file, environment)).rejects.toThrow(/no capability profile/);
    await expect(importCapabilities(join(folder, 'missing.json'), environment)).rejects.toThrow(/ENOENT/);
  });
});

describe('the store of profiles', () => {
  const measured: MeasuredProfile = profileFrom({ calls: {}, keyRepeats: [], purchases: {}, resendWindowMs: 1 });
  const confirmation = { at: new Date('2026-01-01T00:00:00Z'), by: 'Ada' };

  it('lets the newest of an environment be confirmed once, also with concurrent attempts', async () => {
    await using fresh = await openTestDatabase();
    const { database } = fresh;
    const add = (environment: 'sandbox' | 'production') =>
      database.run((db) => addCapabilityProfile(db, { ...measured, environment, measuredAt: new Date() }));
    const confirm = (id: bigint) => database.run((db) => confirmCapabilityProfile(db, id, confirmation));
    const older = await add('sandbox');
    const newest = await add('sandbox');
    // A newer profile of another environment.
    await add('production');
    expect(await confirm(older)).toBe(false);
    const results = await Promise.all([confirm(newest), confirm(newest), confirm(newest)]);
    expect(results.filter(Boolean)).toHaveLength(1);
    const found = () => database.run((db) => newestCapabilityProfile(db, 'sandbox'));
    expect(await found()).toMatchObject({ id: newest, ...measured, confirmation });
    const replacing = await add('sandbox');
    expect(await found()).toMatchObject({ id: replacing, confirmation: undefined });
  });
});
