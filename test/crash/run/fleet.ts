/** The processes of a seed: workers and APIs. Each is started, killed, frozen and restarted separately. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sendSignal } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import type { CrashPlan } from '#test/crash/plans/plan.ts';
import type { KilledProcess } from '#test/crash/plans/points.ts';
import { isPassage, KILLED, STOPPED, type PointSettings } from '#test/crash/processes/fault-points.ts';
import { startProcess, type TestProcess } from '#test/support/servers/processes.ts';
import { definedOf, type Stack } from '#test/support/servers/stack.ts';

const ROLES = ['worker', 'api'] as const satisfies readonly KilledProcess[];

const SCRIPTS: Readonly<Record<KilledProcess, string>> = {
  worker: 'test/crash/processes/worker.ts',
  api: 'test/crash/processes/api.ts',
};

const PORT_OF: Readonly<Record<KilledProcess, string>> = { worker: 'WORKER_PROBE_PORT', api: 'API_PORT' };

const CLOCK = `--import=${new URL('../processes/clock.ts', import.meta.url).href}`;

const LOOK_EVERY_MS = 20;

type ProcessName = `${KilledProcess}-${number}`;

interface FleetOptions {
  readonly stack: Stack;
  readonly plan: CrashPlan;
  /** Folder for the lines of points, and the clocks. */
  readonly folder: string;
  /** Added to the environment of each process: addresses of proxies. */
  readonly environment: Readonly<Record<string, string>>;
  readonly scripts?: Partial<Readonly<Record<KilledProcess, string>>>;
  /** Called when a process has stopped at a point. It continues when the promise resolves. */
  readonly onStopped: (point: string) => Promise<void>;
}

export class Fleet implements AsyncDisposable {
  readonly apiPorts: readonly number[];
  readonly #options: FleetOptions;
  readonly #members: readonly KeptProcess[];
  readonly #handled = new Set<string>();
  #isStopped = false;

  private constructor(options: FleetOptions, members: readonly KeptProcess[]) {
    this.#options = options;
    this.#members = members;
    this.apiPorts = members.filter(({ role }) => role === 'api').map(({ port }) => port);
  }

  static async prepare(options: FleetOptions): Promise<Fleet> {
    const { plan } = options;
    const members = await Promise.all(
      ROLES.flatMap((role) =>
        Array.from(
          { length: plan.processes[role] },
          async (_, index) => new KeptProcess(options, role, index + 1, await freePort()),
        ),
      ),
    );
    return new Fleet(options, members);
  }

  /** Resolves when each process was ready once. */
  async start(): Promise<void> {
    await Promise.all(this.#members.map((each) => each.keepRunning()));
    void this.#watchStops();
  }

  /** Ends all restarts. @returns a sentence for each process that ended without a plan. */
  stop(): readonly string[] {
    this.#isStopped = true;
    return this.#members.flatMap((each) => each.stop());
  }

  async killAll(): Promise<void> {
    await Promise.all(this.#members.map((each) => each.kill()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.killAll();
  }

  member(name: ProcessName): KeptProcess {
    const found = this.#members.find((each) => each.name === name);
    if (found === undefined) throw new Error(`the plan has no ${name}`);
    return found;
  }

  get fired(): string[] {
    return ROLES.flatMap((role) =>
      this.#linesOf(role).flatMap((line) => {
        if (line.startsWith(KILLED)) return [`kill ${role} at ${line.slice(KILLED.length)}`];
        return line.startsWith(STOPPED) ? [`freeze ${role} at ${stopOf(line).point}`] : [];
      }),
    );
  }

  get passed(): Map<string, number> {
    const passed = new Map<string, number>();
    for (const line of ROLES.flatMap((role) => this.#linesOf(role)).filter(isPassage))
      passed.set(line, (passed.get(line) ?? 0) + 1);
    return passed;
  }

  outputs(): string {
    return this.#members.map((each) => each.outputs()).join('\n');
  }

  #linesOf(role: KilledProcess): string[] {
    const file = traceOf(this.#options.folder, role);
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  }

  async #watchStops(): Promise<void> {
    while (!this.#isStopped) {
      for (const line of ROLES.flatMap((role) => this.#linesOf(role))) {
        if (!line.startsWith(STOPPED) || this.#handled.has(line)) continue;
        this.#handled.add(line);
        const { pid, point } = stopOf(line);
        void this.#options.onStopped(point).finally(() => sendSignal(pid, 'SIGCONT'));
      }
      await delay(LOOK_EVERY_MS);
    }
  }
}

function stopOf(line: string): { readonly pid: number; readonly point: string } {
  const [pid = '', ...point] = line.slice(STOPPED.length).split(' ');
  return { pid: Number(pid), point: point.join(' ') };
}

function traceOf(folder: string, role: KilledProcess): string {
  return join(folder, `${role}.points`);
}

/** A process that is restarted after each kill, as by a supervisor. */
class KeptProcess {
  readonly name: ProcessName;
  readonly role: KilledProcess;
  readonly port: number;
  readonly #options: FleetOptions;
  readonly #clockFile: string;
  readonly #started: TestProcess[] = [];
  readonly #oddEnds: string[] = [];
  #isStopped = false;

  constructor(options: FleetOptions, role: KilledProcess, number: number, port: number) {
    this.name = `${role}-${number}`;
    this.role = role;
    this.port = port;
    this.#options = options;
    this.#clockFile = join(options.folder, `${this.name}.clock`);
    this.setClock(options.plan.clocks[this.name] ?? 0);
  }

  /** Resolves when the process was ready once. */
  async keepRunning(): Promise<void> {
    await this.#startUntilItRuns();
    void this.#restartForEver();
  }

  stop(): readonly string[] {
    this.#isStopped = true;
    return this.#oddEnds;
  }

  async kill(): Promise<void> {
    await this.#started.at(-1)?.kill();
  }

  setClock(offsetMs: number): void {
    writeFileSync(this.#clockFile, String(offsetMs));
  }

  /** @returns false if it was not running, so the signal had no effect. */
  signal(signal: NodeJS.Signals): boolean {
    const running = this.#started.at(-1);
    if (running?.running !== true) return false;
    running.signal(signal);
    return true;
  }

  outputs(): string {
    return this.#started.map((each) => `--- ${each.name}\n${each.output()}`).join('\n');
  }

  async #restartForEver(): Promise<void> {
    while (!this.#isStopped) {
      const ended = await this.#started.at(-1)?.exit();
      if (this.#isStopped) return;
      if (ended?.signal !== 'SIGKILL')
        this.#oddEnds.push(`${this.name} ended by itself (code ${ended?.code ?? ended?.signal ?? 'unknown'})`);
      await delay(this.#options.plan.restartDelayMs);
      await this.#startUntilItRuns();
    }
  }

  /** A process may be killed again before it is ready. If it never becomes ready, the audit finds unfinished work. */
  async #startUntilItRuns(): Promise<void> {
    const { plan } = this.#options;
    while (!this.#isStopped) {
      try {
        const started = await startProcess({ name: this.name, ...this.#start() });
        this.#started.push(started);
        // The seed ended during the start.
        if (this.#isStopped) await started.kill();
        return;
      } catch {
        await delay(plan.restartDelayMs);
      }
    }
  }

  #start(): Omit<Parameters<typeof startProcess>[0], 'name'> {
    const { stack, plan, folder, environment, scripts } = this.#options;
    const at = (planned: CrashPlan['kills']) =>
      planned.filter(({ process }) => process === this.role).map(({ point, hit }) => ({ point, hit }));
    const points: PointSettings = { trace: traceOf(folder, this.role), kills: at(plan.kills), stops: at(plan.stopsAt) };
    return {
      script: scripts?.[this.role] ?? SCRIPTS[this.role],
      environment: {
        ...definedOf(stack.environments[this.role]),
        ...environment,
        [PORT_OF[this.role]]: String(this.port),
        CRASH_POINTS: JSON.stringify(points),
        CRASH_CLOCK: this.#clockFile,
        NODE_OPTIONS: CLOCK,
      },
      readyUrl: `http://127.0.0.1:${this.port}/readyz`,
    };
  }
}
