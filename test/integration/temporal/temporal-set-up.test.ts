import { randomBytes } from 'node:crypto';
import { ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { connect, connectClient, connectNative, TemporalUnavailableError } from '#temporal/connection.ts';
import { ensureSchedules, SCHEDULE_IDS } from '#temporal/schedules.ts';
import { NamespaceSetUpError, setUpNamespace } from '#temporal/set-up.ts';
import { createNamespace, temporalConfig } from '#test/support/servers/temporal.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import { MAINTENANCE_RUN_TIMEOUT_MS } from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

quietRuntime();

const keyRing = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const { INDEXED_VALUE_TYPE_KEYWORD: KEYWORD } = temporal.api.enums.v1.IndexedValueType;

describe('setting up a namespace', () => {
  it('creates a namespace that is missing, and its search attributes can be used at once', async () => {
    const config = temporalConfig(`set-up-${randomBytes(4).toString('hex')}`);
    const result = await setUpNamespace(config);
    expect(result.namespaceCreated).toBe(true);
    const names = Object.values(SEARCH_ATTRIBUTES).map(({ name }) => name);
    expect(result.searchAttributesAdded.toSorted()).toEqual(names.toSorted());

    const client = await connectClient(config, keyRing);
    try {
      await client.workflow.start('anyWorkflow', {
        workflowId: 'first',
        taskQueue: 'nobody',
        typedSearchAttributes: [
          { key: SEARCH_ATTRIBUTES.packageId, value: 42 },
          { key: SEARCH_ATTRIBUTES.needsAttention, value: true },
          { key: SEARCH_ATTRIBUTES.nextRetryAt, value: new Date(0) },
          { key: SEARCH_ATTRIBUTES.externalReference, value: 'shop-1' },
        ],
      });
      const { typedSearchAttributes } = await client.workflow.getHandle('first').describe();
      expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.packageId)).toBe(42);
    } finally {
      await client.connection.close();
    }
  });

  it('works in several processes at once, also when the namespace is missing', async () => {
    const config = temporalConfig(`set-up-${randomBytes(4).toString('hex')}`);
    await Promise.all(Array.from({ length: 5 }, () => setUpNamespace(config)));
    expect(await setUpNamespace(config)).toEqual({ namespaceCreated: false, searchAttributesAdded: [] });
  });

  it('adds only missing search attributes, and keeps foreign ones', async () => {
    const config = temporalConfig(await createNamespace());
    const connection = await connect(config);
    const { namespace } = config;
    const searchAttributes = { [SEARCH_ATTRIBUTES.stage.name]: KEYWORD, OfSomebodyElse: KEYWORD };
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
    expect((await setUpNamespace(config)).searchAttributesAdded).not.toContain('Stage');
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(customAttributes['OfSomebodyElse']).toBe(KEYWORD);
    await connection.close();
  });

  it('reports the search attributes that exist with another type, and adds nothing', async () => {
    const config = temporalConfig(await createNamespace());
    const connection = await connect(config);
    const { namespace } = config;
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { PackageId: KEYWORD } });
    const setUp = setUpNamespace(config);
    await expect(setUp).rejects.toThrow(NamespaceSetUpError);
    await expect(setUp).rejects.toThrow(/other types: PackageId\..*TEMPORAL_NAMESPACE/);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(customAttributes['Product']).toBeUndefined();
    await connection.close();
  });
});

describe('the schedules', () => {
  let client: Client;
  beforeAll(async () => {
    client = await connectClient(temporalConfig(await createNamespace()), keyRing);
  });
  afterAll(() => client.connection.close());

  const policy = (everyMs: number) => ({
    reconcile: { ...DEFAULT_POLICY.reconcile, everyMs },
    sweep: { ...DEFAULT_POLICY.sweep, everyMs: 2 * everyMs },
    books: { ...DEFAULT_POLICY.books, everyMs: 3 * everyMs },
    watch: { ...DEFAULT_POLICY.watch, everyMs: 4 * everyMs },
    catalogue: { ...DEFAULT_POLICY.catalogue, everyMs: 5 * everyMs },
  });

  it('are created once by several workers that start at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => ensureSchedules(client, policy(60_000))));
    for (const [index, id] of ['reconcile', 'sweep', 'books', 'watch', 'catalogue'].entries()) {
      expect(await client.schedule.getHandle(id).describe()).toMatchObject({
        spec: { intervals: [{ every: (index + 1) * 60_000 }] },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: 10_000 },
        action: { workflowType: `${id}Workflow`, workflowId: id, taskQueue: 'reseller' },
      });
    }
  });

  it('are not changed when they are right already', async () => {
    const before = await Promise.all(SCHEDULE_IDS.map((id) => client.schedule.getHandle(id).describe()));
    await ensureSchedules(client, policy(60_000));
    const after = await Promise.all(SCHEDULE_IDS.map((id) => client.schedule.getHandle(id).describe()));
    expect(after.map(({ info }) => info.lastUpdatedAt)).toEqual(before.map(({ info }) => info.lastUpdatedAt));
  });

  it('limit the time of a run, also those of an earlier version', async () => {
    const handle = client.schedule.getHandle('catalogue');
    const limited = { workflowRunTimeout: MAINTENANCE_RUN_TIMEOUT_MS };
    expect((await handle.describe()).action).toMatchObject(limited);
    await handle.update(({ action, ...earlier }) => ({ ...earlier, action: { ...action, workflowRunTimeout: '1h' } }));
    expect((await handle.describe()).action).not.toMatchObject(limited);
    await ensureSchedules(client, policy(60_000));
    expect((await handle.describe()).action).toMatchObject(limited);
  });

  it('follow the policy when it changes, and stay paused when an operator has paused them', async () => {
    await client.schedule.getHandle('sweep').pause('looking into something');
    await ensureSchedules(client, policy(30_000));
    const reconcile = await client.schedule.getHandle('reconcile').describe();
    const sweep = await client.schedule.getHandle('sweep').describe();
    expect(reconcile.spec.intervals).toMatchObject([{ every: 30_000 }]);
    expect(reconcile.state.paused).toBe(false);
    expect(sweep.spec.intervals).toMatchObject([{ every: 60_000 }]);
    expect(sweep.state).toMatchObject({ paused: true, note: 'looking into something' });
  });

  it('treat intervals below a second as one second, the shortest possible', async () => {
    await ensureSchedules(client, policy(200));
    expect((await client.schedule.getHandle('reconcile').describe()).spec.intervals).toMatchObject([{ every: 1_000 }]);
  });
});

describe('connecting', () => {
  it.each([
    [
      'a client',
      (config: ReturnType<typeof temporalConfig>, options: { timeoutMs: number }) =>
        connectClient(config, keyRing, options),
    ],
    ['a worker', connectNative],
  ] as const)('fails for %s with a solution when nothing listens', async (_, connectIt) => {
    const config = { ...temporalConfig('default'), address: `127.0.0.1:${await freePort()}` };
    const connecting = connectIt(config, { timeoutMs: 1_500 });
    await expect(connecting).rejects.toThrow(TemporalUnavailableError);
    await expect(connecting).rejects.toThrow(/TEMPORAL_ADDRESS.*without TLS/);
  });
});
