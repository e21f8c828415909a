import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { Child, describeExit } from '#cli/embedded/child.ts';
import { messageOf, UserError } from '#cli/user-error.ts';

export interface TemporalServerOptions {
  /** Path of the Temporal CLI. */
  readonly cli: string;
  readonly port: number;
  /** Port of the Temporal UI; without one there is no UI. */
  readonly uiPort?: number;
  /** Where state is kept; without it, in memory. */
  readonly databaseFile?: string;
  /** Address of the codec server that lets the UI show encrypted payloads. */
  readonly codecEndpoint?: string;
  readonly namespaces?: readonly string[];
  /** Settings of Temporal beside ours, each `name=value`. */
  readonly dynamicConfig?: readonly string[];
  readonly logFile: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 100;
const STOP_GRACE_MS = 15_000;

// The development server has one history shard, and by default polls it 20 times a second: every task waits for a slot
// of a 50 ms grid. At this rate the grid is gone.
const DYNAMIC_CONFIG = ['history.transferProcessorMaxPollRPS=2000'];

// SQLite's default journal needs several waits for the disk in each transaction, and lets readers and the writer wait
// for each other: with fifty workflows at once, calls inside the server pass their deadlines and tasks are lost until
// they time out. The write-ahead log needs one wait; `synchronous=2` (full) keeps that one, so that a power cut loses nothing.
const SQLITE_PRAGMAS = ['journal_mode=wal', 'synchronous=2'];

/** A whole Temporal server for one machine, on loopback. */
export class TemporalServer {
  readonly name = 'Temporal';
  readonly #options: TemporalServerOptions;
  #child: Child | undefined;

  constructor(options: TemporalServerOptions) {
    this.#options = options;
  }

  get child(): Child | undefined {
    return this.#child;
  }

  get address(): string {
    return `127.0.0.1:${this.#options.port}`;
  }

  /** Starts it and waits until it serves requests. */
  async start(): Promise<void> {
    this.#child = new Child({
      name: this.name,
      command: this.#options.cli,
      args: startArguments(this.#options),
      environment: this.#options.environment,
      logFile: this.#options.logFile,
    });
    await this.#ready(this.#child);
  }

  async stop(): Promise<void> {
    await this.#child?.stop(STOP_GRACE_MS);
    this.#child = undefined;
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    await this.#child?.kill();
    this.#child = undefined;
  }

  async #ready(child: Child): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    for (;;) {
      if (child.exit !== undefined) throw startFailure(`The Temporal server ${describeExit(child.exit)}`, child.tail());
      try {
        await this.#answers();
        return;
      } catch (error) {
        if (Date.now() > deadline) throw startFailure(`The Temporal server does not answer: ${messageOf(error)}`, child.tail());
      }
      await delay(READY_POLL_MS);
    }
  }

  async #answers(): Promise<void> {
    await portAccepts(this.#options.port);
    const connection = await Connection.connect({ address: this.address, connectTimeout: 2_000 });
    try {
      await connection.workflowService.describeNamespace({ namespace: 'default' });
    } finally {
      await connection.close();
    }
  }
}

/** Exported for its test. */
export function startArguments(options: TemporalServerOptions): string[] {
  const { port, uiPort, databaseFile, codecEndpoint, namespaces = [], dynamicConfig = [] } = options;
  return [
    'server',
    'start-dev',
    '--ip=127.0.0.1',
    `--port=${port}`,
    ...(uiPort === undefined ? ['--headless'] : [`--ui-port=${uiPort}`]),
    ...(databaseFile === undefined
      ? []
      : [`--db-filename=${databaseFile}`, ...SQLITE_PRAGMAS.map((pragma) => `--sqlite-pragma=${pragma}`)]),
    ...(codecEndpoint === undefined ? [] : [`--ui-codec-endpoint=${codecEndpoint}`]),
    ...namespaces.map((name) => `--namespace=${name}`),
    ...[...DYNAMIC_CONFIG, ...dynamicConfig].map((value) => `--dynamic-config-value=${value}`),
    '--log-format=text',
    '--log-level=warn',
  ];
}

// The SDK's client waits a second between its tries to connect; a plain connection says at once that nobody listens.
async function portAccepts(port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}

function startFailure(what: string, output: string): UserError {
  if (/no space left|disk full|database or disk is full/i.test(output)) {
    return new UserError(`${what}: no space is left on the disk.`, 'Free some space and start again.');
  }
  return new UserError(`${what}.\n${output}`, 'The lines above are the end of its log.');
}
