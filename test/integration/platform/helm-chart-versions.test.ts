/** The Helm chart with several versions of the workers. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  CHART,
  type ChartObject,
  environmentOf,
  podOf,
  podsOf,
  rendered,
  REQUIRED,
  scaledObjects,
  triggersOf,
} from '#test/support/kubernetes/chart.ts';
import { kubernetesTools } from '#test/support/kubernetes/tools.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const tools = await kubernetesTools();
const FORMER = { buildId: '0.1.0', tag: '0.1.0' };
/** Values with versions. @param more of them. */
const withVersions = (previous: readonly object[], more: object = {}) => ({
  ...REQUIRED,
  worker: { versioning: { enabled: true, previous, ...more } },
});
const isOfWorkers = ({ kind, metadata: { name } }: ChartObject) => kind === 'Deployment' && name.includes('worker');

describe.skipIf(tools === undefined)('the Helm chart with versions of the workers', () => {
  if (tools === undefined) return;

  it('scales workers without a version by all tasks', async () => {
    const values = { ...REQUIRED, worker: { autoscaling: { enabled: true } } };
    const objects = scaledObjects(await rendered(tools, values));
    expect(objects.map(({ metadata }) => metadata.name)).toEqual(['shop-worker']);
    for (const { metadata } of triggersOf(objects[0])) expect(Object.keys(metadata).join()).not.toMatch(/deployment/i);
  });

  it('runs each version of the workers with its own image, and scales it by its own tasks', async () => {
    const image = { digest: `sha256:${'0'.repeat(64)}` };
    const worker = { ...withVersions([FORMER]).worker, autoscaling: { enabled: true } };
    const objects = await rendered(tools, { ...REQUIRED, image, worker });
    const digest = '0'.repeat(12);
    const workers = podsOf(objects).filter(({ component }) => component === 'worker');
    const versionOf = (pod: (typeof workers)[number]) => {
      const { WORKER_DEPLOYMENT_NAME: name, WORKER_BUILD_ID: build } = environmentOf(pod);
      return [name, build, pod.template.spec.containers[0].image];
    };
    expect(workers.map(versionOf)).toEqual([
      ['shop', digest, `reseller-fulfilment@${image.digest}`],
      ['shop', '0.1.0', 'reseller-fulfilment:0.1.0'],
    ]);
    // `doctor` and `deployment` run in the API.
    expect(environmentOf(podOf(objects, 'api'))).toMatchObject({ WORKER_BUILD_ID: digest });
    const scaling = scaledObjects(objects);
    expect(scaling.map(({ metadata }) => metadata.name)).toEqual([`shop-worker-${digest}`, 'shop-worker-0-1-0']);
    for (const [index, build] of [digest, '0.1.0'].entries()) {
      for (const { metadata } of triggersOf(scaling[index]))
        expect(metadata).toMatchObject({ workerDeploymentName: 'shop', workerDeploymentBuildId: build });
    }
  });

  it('leaves the pods of a version as they are when the next one is installed beside it', async () => {
    const deployment = async (values: object, name: string) =>
      (await rendered(tools, values)).find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
    const before = await deployment({ ...withVersions([]), image: { tag: '0.1.0' } }, 'shop-worker-0-1-0');
    const next = { ...withVersions([FORMER]), image: { tag: '0.2.0' } };
    expect(before?.spec).toBeDefined();
    expect((await deployment(next, 'shop-worker-0-1-0'))?.spec).toEqual(before?.spec);
    expect(await deployment(next, 'shop-worker-0-2-0')).toBeDefined();
  });

  it('runs a former version only with its own image, and with as many pods as were asked for', async () => {
    const workers = async (entry: object) => (await rendered(tools, withVersions([entry]))).filter(isOfWorkers);
    const refused = async (entry: object, reason: string) =>
      expect(workers(entry)).rejects.toMatchObject({ output: expect.stringContaining(reason) });
    await refused({ buildId: 'a' }, 'tag or digest is required');
    await refused({ tag: 'a' }, 'buildId is required');
    await refused({ buildId: 'a', digst: `sha256:${'a'.repeat(64)}` }, 'unknown key digst');
    await refused({ buildId: '1.10', tag: 1.1 }, 'tag must be a text');
    const replicas = (await workers({ buildId: 'a', tag: 'a', replicas: 0 })).map(({ spec }) => spec?.['replicas']);
    expect(replicas).toEqual([2, 0]);
  });

  it('restarts no pod of a former version because the chart has a new version', async () => {
    const chart = temporaryFolder('chart');
    cpSync(CHART, chart, { recursive: true });
    const file = join(chart, 'Chart.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('0.1.0', '0.2.0'));
    const values = withVersions([{ buildId: 'a', tag: 'a' }]);
    const former = async (folder: string) =>
      (await rendered(tools, values, 'shop', folder)).find(({ metadata: { name } }) => name === 'shop-worker-a')?.spec;
    expect(await former(chart)).toEqual(await former(CHART));
  });

  it('gives versions with long build ids different names, and refuses one that is there twice', async () => {
    const named = async (...builds: string[]) => {
      const previous = builds.map((buildId) => ({ buildId, tag: buildId }));
      const values = withVersions(previous, { buildId: 'new' });
      const objects = await rendered(tools, values, 'a-release-with-a-name-of-forty-characters');
      return objects.filter(isOfWorkers).map(({ metadata }) => metadata.name);
    };
    const names = await named('release-2026-11-27', 'release-2026-11-28');
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name.length).toBeLessThan(64);
    const output = expect.stringContaining('two versions have the build id');
    await expect(named('new')).rejects.toMatchObject({ output });
  });
});
