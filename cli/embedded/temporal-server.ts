import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { Child, describeExit } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { messageOf, UserError } from '#cli/terminal/user-error.ts';
import { startUiProxy, type UiProxy } from '#temporal/ui-proxy.ts';

export interface TemporalServerOptions {
  /** Path of the Temporal CLI. */
  readonly cli: string;
  readonly port: number;
  /**
   * Port under which the Temporal UI is opened; without one there is no UI. It is the proxy's ({@link startUiProxy}).
   */
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
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=2000',
  // Besides gRPC the server speaks plain HTTP on some free port, which cannot be switched off and which any web page
  // can send a POST to. No host is served there: a name below .invalid never exists (RFC 2606).
  'frontend.httpAllowedHosts=["nothing.invalid"]',
];

// SQLite's default journal needs several waits for the disk in each transaction, and lets readers and the writer wait
// for each other: with fifty workflows at once, calls inside the server pass their deadlines and tasks are lost until
// they time out. The write-ahead log needs one wait; `synchronous=2` (full) keeps that one, so that a power cut loses
// nothing.
const SQLITE_PRAGMAS = ['journal_mode=wal', 'synchronous=2'];

/** A whole Temporal server for one machine, on loopback. */
export class TemporalServer {
  readonly name = 'Temporal';
  readonly #options: TemporalServerOptions;
  #child: Child | undefined;
  #uiProxy: UiProxy | undefined;

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
    const ui = this.#options.uiPort === undefined ? undefined : { address: hiddenAddress(), port: await freePort() };
    this.#child = new Child({
      name: this.name,
      command: this.#options.cli,
      args: startArguments(this.#options, ui),
      environment: this.#options.environment,
      logFile: this.#options.logFile,
    });
    await this.#ready(this.#child);
    if (ui !== undefined) this.#uiProxy = await this.#serveUi(ui);
  }

  async stop(): Promise<void> {
    await this.#closeUi();
    await this.#child?.stop(STOP_GRACE_MS);
    this.#child = undefined;
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    await this.#closeUi();
    await this.#child?.kill();
    this.#child = undefined;
  }

  async #serveUi(ui: HiddenUi): Promise<UiProxy> {
    const port = this.#options.uiPort ?? 0;
    await this.#closeUi();
    return startUiProxy({
      host: '127.0.0.1',
      port,
      target: `http://${ui.address}:${ui.port}`,
      origins: [`http://127.0.0.1:${port}`, `http://localhost:${port}`],
    });
  }

  async #closeUi(): Promise<void> {
    await this.#uiProxy?.close();
    this.#uiProxy = undefined;
  }

  async #ready(child: Child): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    for (;;) {
      if (child.exit !== undefined) throw startFailure(`The Temporal server ${describeExit(child.exit)}`, child.tail());
      try {
        await this.#answers();
        return;
      } catch (error) {
        if (Date.now() > deadline)
          throw startFailure(`The Temporal server does not answer: ${messageOf(error)}`, child.tail());
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

/** Where the UI itself listens, behind its proxy. */
interface HiddenUi {
  readonly address: string;
  readonly port: number;
}

/**
 * An address for the UI itself, which checks no `Host`. Linux has all of 127.0.0.0/8: a web page would have to guess
 * one of 16 million addresses, and its port. Elsewhere there is 127.0.0.1 only, and the port alone is to be guessed.
 */
function hiddenAddress(): string {
  if (process.platform !== 'linux') return '127.0.0.1';
  return `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(2, 255)}`;
}

/** Exported for its test. @param ui where the UI itself listens; without one there is none. */
export function startArguments(options: TemporalServerOptions, ui?: HiddenUi): string[] {
  const { port, databaseFile, codecEndpoint, namespaces = [], dynamicConfig = [] } = options;
  return [
    'server',
    'start-dev',
    '--ip=127.0.0.1',
    `--port=${port}`,
    ...(ui === undefined ? ['--headless'] : [`--ui-ip=${ui.address}`, `--ui-port=${ui.port}`]),
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
