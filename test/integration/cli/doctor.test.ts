import { randomBytes } from 'node:crypto';
import { temporal } from '@temporalio/proto';
import { afterAll, describe, expect, inject, it } from 'vitest';
import * as z from 'zod';
import { CHECKS } from '#cli/doctor/finding.ts';
import { installation } from '#db/schema.ts';
import { connect } from '#temporal/connection.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { createTestDatabase, openTestDatabase } from '#test/support/servers/database.ts';
import { startProcess } from '#test/support/servers/processes.ts';
import { definedOf, startStack } from '#test/support/servers/stack.ts';
import { createNamespace, temporalConfig } from '#test/support/servers/temporal.ts';

const stack = disposedAtEnd(await startStack({ start: ['simulator', 'api'] }));

const connection = await connect(temporalConfig(stack.temporal.namespace));
afterAll(() => connection.close());
/** The status of checks that need another one, which has failed. */
const notChecked = (...checks: string[]) => Object.fromEntries(checks.map((check) => [check, 'not_checked']));

const jsonReport = z.object({
  exit_code: z.int(),
  checks: z.array(
    z.object({ check: z.string(), status: z.string(), detail: z.string(), advice: z.string().optional() }),
  ),
});

/** The contract check has its own test. The others do not depend on the calls that the simulator serves. */
const WITHOUT_DESCRIPTION = { SERVICE_MISSING_CAPABILITIES: 'openapi_download' };

/** Runs the doctor as a process with the environment of the worker and the API of the stack. */
async function runDoctor(changes: Record<string, string> = {}, args: readonly string[] = []) {
  const { worker, api } = stack.environments;
  const address = { PUBLIC_WEBHOOK_URL: `${stack.api.baseUrl}/webhooks/service` };
  const environment = definedOf({ ...worker, ...api, ...address, ...WITHOUT_DESCRIPTION, ...changes });
  const what = { name: 'doctor', script: 'cli/main.ts', args: ['doctor', ...args], environment };
  await using command = await startProcess(what);
  const { code } = await command.exit();
  return { code, output: command.output() };
}

/**
 * Runs the doctor.
 * @returns the findings by check, and the status of those that are not ok; the contract only if it is checked.
 */
async function findings(changes: Record<string, string> = {}) {
  const { code, output } = await runDoctor(changes, ['--json']);
  const { exit_code: stated, checks } = jsonReport.parse(JSON.parse(output));
  expect(code).toBe(stated);
  const of = new Map(checks.map((finding) => [finding.check, finding]));
  const looked = checks.filter(
    ({ check }) => check !== 'contract' || changes['SERVICE_MISSING_CAPABILITIES'] !== undefined,
  );
  const problems = looked.flatMap(({ check, status }) => (status === 'ok' ? [] : [[check, status] as const]));
  return { code, problems: Object.fromEntries(problems) as Record<string, string>, of: Object.fromEntries(of) };
}

describe('reseller doctor on a running set-up', () => {
  it('reports ok in a line for each check, and exits with 0', async () => {
    const { code, output } = await runDoctor({ SERVICE_MISSING_CAPABILITIES: '' });
    const lines = output.trimEnd().split('\n');
    const titles = Object.values(CHECKS);
    expect(lines.slice(0, titles.length).map((line) => line.slice(0, 22).trimEnd())).toEqual(
      titles.map((title) => `✔ ${title}`),
    );
    expect(lines.at(-1)).toBe(`${titles.length} ok, 0 warnings, 0 failures, 0 not checked`);
    expect(code).toBe(0);
  });

  it('buys nothing, and leaves one ping without effect in the inbox', async () => {
    const admin = new SimulatorAdmin(stack.simulator);
    const before = await admin.ledger();
    const pings = async () => {
      const { rows } = await stack.database.executor.execute<{ state: string; delivery_id: string }>(
        `select state, delivery_id from inbox where delivery_id like 'doctor-%'`,
      );
      return rows;
    };
    const had = (await pings()).length;
    expect((await findings()).problems).toEqual({});
    expect(await admin.ledger()).toEqual(before);
    expect(await admin.orders()).toEqual([]);
    const have = await pings();
    expect(have).toHaveLength(had + 1);
    expect(new Set(have.map(({ state }) => state))).toEqual(new Set(['ignored']));
  });

  it('reports a key with other bytes than the one that the database was used with', async () => {
    const [id = ''] = (stack.environments.api['ENCRYPTION_KEYS'] ?? '').split(':');
    const { code, problems, of } = await findings({ ENCRYPTION_KEYS: `${id}:${randomBytes(32).toString('base64')}` });
    expect({ code, problems: problems['encryption_keys'] }).toEqual({ code: 1, problems: 'failure' });
    expect(of['encryption_keys']?.detail).toContain(`"${id}" in ENCRYPTION_KEYS has other bytes`);
  });

  it('shows missing migrations', async () => {
    await using empty = await createTestDatabase({ ...inject('servers'), templateDatabase: 'template0' });
    const { code, problems, of } = await findings({ DATABASE_URL: empty.url });
    const others = notChecked('installation', 'encryption_keys', 'webhook_arrival', 'deliveries');
    expect({ code, problems }).toEqual({ code: 1, problems: { migrations: 'failure', ...others } });
    expect(of['migrations']?.advice).toMatch(/reseller migrate/);
  });

  it('shows a database of the other environment, and that production is not known to be approved', async () => {
    const { code, problems, of } = await findings({ SERVICE_MODE: 'production', SERVICE_TOKEN_DAYS: '30' });
    expect(code).toBe(1);
    expect(problems).toMatchObject({ installation: 'failure', capabilities: 'warning', webhook_address: 'warning' });
    expect(of['installation']?.detail).toMatch(/\(sandbox\).*\(production\)/);
    // Which of the two depends on how strict the service is before it approves: never "ok".
    expect(['failure', 'warning']).toContain(problems['approval']);
  });

  it('shows a namespace that is missing, and one without our search attributes, and adds nothing', async () => {
    const missing = await findings({ TEMPORAL_NAMESPACE: `none-${randomBytes(4).toString('hex')}` });
    const others = notChecked('search_attributes', 'worker_version', 'workflow_tasks');
    expect(missing.problems).toEqual({ namespace: 'warning', ...others });
    expect(missing.code).toBe(0);
    const namespace = await createNamespace();
    const bare = await findings({ TEMPORAL_NAMESPACE: namespace });
    expect(bare.problems).toEqual({ search_attributes: 'warning' });
    expect(bare.of['search_attributes']?.detail).toMatch(/PackageId/);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(customAttributes['PackageId']).toBeUndefined();
  });

  it('shows a search attribute of another type, which the worker cannot correct', async () => {
    const namespace = await createNamespace();
    const { INDEXED_VALUE_TYPE_KEYWORD: keyword } = temporal.api.enums.v1.IndexedValueType;
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { PackageId: keyword } });
    const { code, problems, of } = await findings({ TEMPORAL_NAMESPACE: namespace });
    expect({ code, problems }).toEqual({ code: 1, problems: { search_attributes: 'failure' } });
    expect(of['search_attributes']).toMatchObject({
      detail: expect.stringContaining('PackageId'),
      advice: expect.stringContaining('TEMPORAL_NAMESPACE'),
    });
  });

  it('stamps no database', async () => {
    await using fresh = await openTestDatabase();
    const { problems, of } = await findings({ DATABASE_URL: fresh.url });
    expect(problems).toEqual({});
    expect(of['installation']?.detail).toMatch(/^none yet/);
    expect(await fresh.database.run((db) => db.select().from(installation))).toEqual([]);
  });

  // Last, because it stops the service.
  it('shows a service that does not answer', async () => {
    await stack.process('simulator').stop();
    const { code, problems, of } = await findings({ SERVICE_MISSING_CAPABILITIES: '' });
    const others = notChecked('token', 'wallet', 'clock', 'contract');
    expect({ code, problems }).toEqual({ code: 1, problems: { login: 'failure', ...others } });
    expect(of['login']?.advice).toMatch(/SERVICE_BASE_URL/);
  });
});
