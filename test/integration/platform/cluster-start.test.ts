/** `reseller start --cluster` as a user runs it, with the failure of one machine: one API and one worker. */
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { commandLineOf, isRunning, sendSignal } from '#cli/embedded/child.ts';
import { isPortFree } from '#cli/embedded/ports.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { Place, says, UP } from '#test/support/servers/place.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { PACKAGE } from '#test/support/work/order-desk.ts';

const ORDERS = 8;

it(
  'completes every order with one debit when an API and a worker are killed, and frees all ports when it stops',
  { timeout: 1_200_000 },
  async () => {
    const place = await Place.make();
    onTestFinished(() => place.clear());
    const run = place.start(['--cluster', '--no-demo'], { SIMULATOR_PROCESSING_DELAY: '1s' });
    await says(run, UP);
    // Once for all workers, which do not bundle by themselves.
    expect(run.output().match(/✔ Workflows/g)).toHaveLength(1);
    const { api, ports } = place;
    const ui = `http://127.0.0.1:${ports.temporalUi}/namespaces/default/workflows?query=ExternalReference`;
    expect(run.output()).toContain(`Temporal UI        ${ui}`);
    const settings = await fetch(`http://127.0.0.1:${ports.temporalUi}/api/v1/settings`);
    expect(await settings.json()).toMatchObject({ Codec: { Endpoint: `http://127.0.0.1:${ports.codec}` } });

    const placed: string[] = [];
    const order = async (n: number) => {
      const packageId = n % 2 === 0 ? PACKAGE.processingThenCompleted : PACKAGE.completedAtOnce;
      const body = { package_id: packageId, external_order_id: `ext-${randomUUID()}` };
      const key = randomUUID();
      // A caller whose request was open at the killed API gets no answer, and repeats it with the same key.
      const answer = await waitFor('the order is accepted', async () => {
        const given = await postOnce(api, '/v1/orders', body, key);
        return given.status === 202 ? given : undefined;
      });
      placed.push(answer.textAt('id'));
    };
    const several = () => Promise.all(Array.from({ length: ORDERS }, (_, n) => order(n)));
    const started = place.children();
    const oneOf = (script: string) => started.filter(({ pid }) => commandLineOf(pid).includes(script));
    const [apis, workers] = [oneOf('api/main.ts'), oneOf('worker/main.ts')];
    expect([apis.length, workers.length]).toEqual([2, 2]);
    // An address in an answer is that of the load balancer, whichever API answers.
    const unknown = await Promise.all([1, 2].map(() => api.get('/v1/orders/ord_00000000000000000000000000')));
    const problem = `http://127.0.0.1:${ports.api}/problems/order-not-found`;
    expect(unknown.map((answer) => answer.at('type'))).toEqual([problem, problem]);

    await several();
    for (const lost of [apis[0], workers[0]]) sendSignal(lost?.pid ?? 0, 'SIGKILL');
    await several();
    await says(run, 'API 1 was ended by SIGKILL; restarting it');
    await several();

    const completed = (id: string) => {
      const isCompleted = async () => (await api.get(`/v1/orders/${id}`)).textAt('status') === 'completed';
      return waitFor(`${id} is completed`, isCompleted, { timeoutMs: 360_000, context: () => run.tail() });
    };
    await Promise.all(placed.map(completed));
    const ledger = await new SimulatorAdmin(new HttpClient(`http://127.0.0.1:${ports.simulator}`)).ledger();
    const debits = ledger.filter(({ type }) => type === 'debit').map((line) => line.external_order_id);
    expect([debits.length, new Set(debits).size]).toEqual([placed.length, placed.length]);
    await says(run, 'API 1 runs again');
    await says(run, 'Worker 1 runs again');

    const all = place.children();
    const apiPorts = [...(/APIs behind it +(.+)$/m.exec(run.output())?.[1]?.matchAll(/:(\d+)(?:,|$)/g) ?? [])];
    expect(apiPorts).toHaveLength(2);
    run.signal('SIGINT');
    expect(await run.exit()).toEqual({ code: 0, signal: null });
    expect(all.filter(isRunning)).toEqual([]);
    expect(await place.portsInUse()).toEqual([]);
    expect(await Promise.all(apiPorts.map(([, port]) => isPortFree(Number(port))))).toEqual([true, true]);
  },
);
