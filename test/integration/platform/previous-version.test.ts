/** What a rolling deploy needs: the previous version works on the present schema, and hands over to the present one. */
import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { postOnce } from '#test/support/api/keys.ts';
import { PROJECT } from '#test/support/compose.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const run = promisify(execFile);
const TOP_UP_PACKAGE = 1002;
const VPN_PLAN = 301;

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: PROJECT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/**
 * The commit of the last release; before the first release, the newest one behind which nothing leads: it changed the
 * first migration, or the commands of a first task (`firstSendIn`, ADR 0020), which no earlier version can replay.
 * @returns undefined in a shallow clone or an archive, whose history does not tell.
 */
function previousCommit(): string | undefined {
  try {
    if (git('rev-parse', '--is-shallow-repository') === 'true') return undefined;
    const release = git('tag', '--list', 'v*', '--merged', 'HEAD~1', '--sort=-version:refname').split('\n')[0];
    const schema = git('log', '-1', '--format=%H', '--', 'db/migrations/0000_schema.sql');
    const firstTask = git('log', '-1', '--format=%H', '-S', 'firstSendIn', '--', 'workflows/messages.ts');
    return release || git('rev-list', '--no-walk=sorted', '--max-count=1', schema, firstTask) || undefined;
  } catch {
    return undefined;
  }
}

const commit = previousCommit();
if (commit === undefined) {
  process.stdout.write(
    'DID NOT RUN: the test of the previous version, because this clone has no history (git fetch --unshallow)\n',
  );
}

/** The tree of the previous version, with the packages of the present one. @returns its folder. */
async function previousVersion(tree: string): Promise<string> {
  const folder = temporaryFolder('previous');
  const archive = join(folder, '..', `${randomUUID()}.tar`);
  await run('git', ['archive', '--output', archive, tree], { cwd: PROJECT });
  await run('tar', ['-xf', archive, '-C', folder]);
  removeFolder(archive);
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

describe.skipIf(commit === undefined)('the previous version', () => {
  it('carries out work of each kind on the present schema, and the present version continues it', async ({
    onTestFinished,
  }) => {
    const folder = await previousVersion(commit ?? '');
    const workflowBundle = join(folder, 'workflows.js');
    await run(process.execPath, [join(folder, 'worker/build-bundle.ts'), workflowBundle], { cwd: folder });
    // Changed below to the present version.
    const version = join(folder, '..', `version-${randomUUID()}`);
    onTestFinished(() => removeFolder(version));
    const deploy = (tree: string) => {
      rmSync(version, { force: true });
      symlinkSync(tree, version);
    };
    deploy(folder);
    const script = (name: string) => relative(PROJECT, join(version, name));
    await using stack = await startStack({
      scripts: { api: script('api/main.ts'), worker: script('worker/main.ts') },
      workflowBundle,
      simulator: { SIMULATOR_PROCESSING_DELAY: '500ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '300ms' },
    });
    const desk = new OrderDesk(stack);

    const esim = await desk.newEsim();
    await desk.complete(PACKAGE.processingThenCompleted);
    await desk.topupReaches(await desk.topUp(esim, TOP_UP_PACKAGE), 'completed');
    await desk.subscriptionReaches(await desk.subscribe(VPN_PLAN), 'active');
    const answer = await postOnce(stack.api, `/v1/esims/${esim}/cancel`, {});
    expect(answer.status).toBe(202);
    await stack.workReaches(answer.headers.get('location') ?? '', ['completed', 'refused']);
    const restart = async (environment: Readonly<Record<string, string>>) => {
      for (const name of ['api', 'worker'] as const) {
        await stack.process(name).stop();
        await stack.start(name, environment);
      }
    };
    // Its event is lost, so that the run of the previous version waits in the present one, too.
    await desk.simulator.onWebhook('order.completed', { kind: 'lost' });
    const underWay = await desk.place(PACKAGE.processingThenCompleted);
    deploy(PROJECT);
    await restart({ WORKFLOW_BUNDLE: inject('servers').workflowBundle });
    await desk.reaches(underWay, 'completed');

    // A rollback starts the previous version again, on a database that the present one has used.
    const beforeRollback = await desk.place(PACKAGE.processingThenCompleted);
    deploy(folder);
    await restart({ WORKFLOW_BUNDLE: workflowBundle });
    await desk.reaches(beforeRollback, 'completed');
    await desk.newEsim();
    await desk.checkBooks();
  });
});
