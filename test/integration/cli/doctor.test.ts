import { randomBytes } from 'node:crypto';
import { temporal } from '@temporalio/proto';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { CHECKS } from '#cli/doctor/finding.ts';
import { installation } from '#db/schema.ts';
import { connect } from '#temporal/connection.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { createTestDatabase, openTestDatabase } from '#test/support/servers/database.ts';
import { findingsOfDoctor, runDoctor } from '#test/support/servers/doctor-command.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { createNamespace, temporalConfig } from '#test/support/servers/temporal.ts';

const stack = disposedAtEnd(await startStack({ start: ['simulator', 'api'] }));

const connection = await connect(temporalConfig(stack.temporal.namespace));
afterAll(() => connection.close());
const operator = () => connection.operatorService;

const doctor = (changes?: Record<string, string>) => runDoctor(stack, changes);
const findings = (changes?: Record<string, string>) => findingsOfDoctor(stack, changes);

describe('reseller doctor on a running set-up', () => {
  it('reports ok in a line for each check, and exits with 0', async () => {
    const { code, output } = await doctor({ SERVICE_MISSING_CAPABILITIES: '' });
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
    expect({ code, problems }).toEqual({
      code: 1,
      problems: {
        migrations: 'failure',
        installation: 'not_checked',
        encryption_keys: 'not_checked',
        webhook_arrival: 'not_checked',
        deliveries: 'not_checked',
      },
    });
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
    expect({ code: missing.code, problems: missing.problems }).toEqual({
      code: 0,
      problems: {
        namespace: 'warning',
        search_attributes: 'not_checked',
        worker_version: 'not_checked',
        workflow_tasks: 'not_checked',
      },
    });
    const namespace = await createNamespace();
    const bare = await findings({ TEMPORAL_NAMESPACE: namespace });
    expect(bare.problems).toEqual({ search_attributes: 'warning' });
    expect(bare.of['search_attributes']?.detail).toMatch(/PackageId/);
    const { customAttributes } = await operator().listSearchAttributes({ namespace });
    expect(customAttributes['PackageId']).toBeUndefined();
  });

  it('shows a search attribute of another type, which the worker cannot correct', async () => {
    const namespace = await createNamespace();
    const { INDEXED_VALUE_TYPE_KEYWORD: keyword } = temporal.api.enums.v1.IndexedValueType;
    await operator().addSearchAttributes({ namespace, searchAttributes: { PackageId: keyword } });
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
    expect({ code, problems }).toEqual({
      code: 1,
      problems: {
        login: 'failure',
        token: 'not_checked',
        wallet: 'not_checked',
        clock: 'not_checked',
        contract: 'not_checked',
      },
    });
    expect(of['login']?.advice).toMatch(/SERVICE_BASE_URL/);
  });
});
