import { connect } from 'node:net';
import { basename, dirname } from 'node:path';
import { ServerProcess, untilReady } from '#cli/embedded/child.ts';
import { hiddenUi, type HiddenUi, UiFront } from '#cli/embedded/temporal-ui.ts';
import { saysDiskFull, UserError } from '#cli/terminal/user-error.ts';
import type { TemporalTls } from '#config/config.ts';
import { connect as connectTemporal } from '#temporal/connection.ts';

export interface TemporalServerOptions {
  readonly cli: string;
  readonly port: number;
  readonly uiPort?: number;
  /** Undefined: the state is in memory. */
  readonly databaseFile?: string;
  /** False: a power cut may lose state, and no commit waits for the disk. */
  readonly durable?: boolean;
  readonly codecEndpoint?: string;
  readonly dynamicConfig?: readonly string[];
  readonly metricsPort?: number;
  readonly logFile: string;
  /** Only `PATH` and `GOGC` are used: the CLI would obey `TEMPORAL_ENV` and files in `HOME`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Its heap is small: by default it would collect garbage many times a second, an eighth of its CPU time. */
const GOGC = '400';

const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 100;
const STOP_GRACE_MS = 15_000;

// One history shard, polled 20 times a second by default, delays every task by up to 50 ms.
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=2000',
  // The server also listens for HTTP on a free port, to which any web page could send a POST. It cannot be switched
  // off. This refuses every host: no name below .invalid exists (RFC 2606).
  'frontend.httpAllowedHosts=["nothing.invalid"]',
];

// SQLite's default journal blocks readers and the writer. With fifty workflows at once, calls inside the server then
// exceed their deadlines, and tasks are lost until they time out. `synchronous=2` (full) keeps the write-ahead log's
// one sync: a power cut loses nothing.
const sqlitePragmas = (durable: boolean) => ['journal_mode=wal', `synchronous=${durable ? 2 : 0}`];

export class TemporalServer extends ServerProcess {
  readonly #options: TemporalServerOptions;
  readonly #front = new UiFront();

  constructor(options: TemporalServerOptions) {
    super('Temporal', STOP_GRACE_MS);
    this.#options = options;
  }

  get address(): string {
    return `127.0.0.1:${this.#options.port}`;
  }

  async start(): Promise<void> {
    const { uiPort, databaseFile, environment } = this.#options;
    const ui = uiPort === undefined ? undefined : await hiddenUi();
    const child = this.launch({
      command: this.#options.cli,
      args: startArguments(this.#options, ui),
      ...(databaseFile !== undefined && { cwd: dirname(databaseFile) }),
      environment: { PATH: environment['PATH'], GOGC: environment['GOGC'] ?? GOGC },
      logFile: this.#options.logFile,
    });
    await untilReady(child, {
      timeoutMs: READY_TIMEOUT_MS,
      pollMs: READY_POLL_MS,
      answers: async () => {
        await portAccepts(this.#options.port);
        await namespaceAnswers(this.address, 'default');
      },
      failure: (state) => startFailure(`The Temporal server ${state}`, child.tail()),
    });
    if (ui !== undefined && uiPort !== undefined) await this.#front.open(ui, uiPort, child);
  }

  protected override async afterEnd(): Promise<void> {
    await this.#front.close();
  }
}

/** @throws the error of a server that does not answer. */
export async function namespaceAnswers(address: string, namespace: string, tls?: TemporalTls): Promise<void> {
  const connection = await connectTemporal({ address, namespace, tls, apiKey: undefined }, { timeoutMs: 2_000 });
  try {
    await connection.workflowService.describeNamespace({ namespace });
  } finally {
    await connection.close();
  }
}

/** Exported for its test. */
export function startArguments(options: TemporalServerOptions, ui?: HiddenUi): string[] {
  const { port, databaseFile, durable = true, codecEndpoint, dynamicConfig = [], metricsPort } = options;
  return [
    'server',
    'start-dev',
    '--ip=127.0.0.1',
    `--port=${port}`,
    ...(metricsPort === undefined ? [] : [`--metrics-port=${metricsPort}`]),
    ...(ui === undefined ? ['--headless'] : [`--ui-ip=${ui.address}`, `--ui-port=${ui.port}`]),
    ...(databaseFile === undefined
      ? []
      : // The server makes a URI of it without escapes. Only the name is safe: the folder is its working directory.
        [
          `--db-filename=${basename(databaseFile)}`,
          ...sqlitePragmas(durable).map((pragma) => `--sqlite-pragma=${pragma}`),
        ]),
    ...(codecEndpoint === undefined ? [] : [`--ui-codec-endpoint=${codecEndpoint}`]),
    ...[...DYNAMIC_CONFIG, ...dynamicConfig].map((value) => `--dynamic-config-value=${value}`),
    '--log-format=text',
    '--log-level=warn',
  ];
}

// The SDK's client waits a second between attempts. A plain connection fails at once.
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
  if (saysDiskFull(output)) {
    return new UserError(`${what}: no space is left on the disk.`, 'Free some space and start again.');
  }
  return new UserError(`${what}.\n${output}`, 'The lines above are the end of its log.');
}
