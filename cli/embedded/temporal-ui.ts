import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { answersOk, type Child, ServerProcess, untilReady } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import type { SmallServer } from '#telemetry/http-server.ts';
import { startUiProxy } from '#temporal/ui-proxy.ts';

export interface HiddenUi {
  readonly address: string;
  readonly port: number;
}

export interface TemporalUiOptions {
  readonly program: string;
  readonly port: number;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly codecEndpoint: string;
  readonly logFile: string;
}

const CONFIG_FOLDER = join(import.meta.dirname, '../../ops/temporal');
const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 100;
const STOP_GRACE_MS = 5_000;

/** `TemporalServer` contains its own UI. */
export class TemporalUi extends ServerProcess {
  readonly #options: TemporalUiOptions;
  readonly #front = new UiFront();

  constructor(options: TemporalUiOptions) {
    super('Temporal UI', STOP_GRACE_MS);
    this.#options = options;
  }

  async start(): Promise<void> {
    const ui = await hiddenUi();
    const child = this.launch({
      command: this.#options.program,
      args: ['--root', CONFIG_FOLDER, '--config', '.', '--env', 'ui', 'start'],
      environment: this.#environment(ui),
      logFile: this.#options.logFile,
    });
    await untilReady(child, {
      timeoutMs: READY_TIMEOUT_MS,
      pollMs: READY_POLL_MS,
      answers: () => answersOk(`http://${ui.address}:${ui.port}/healthz`),
      what: 'The Temporal UI',
    });
    await this.#front.open(ui, this.#options.port, child);
  }

  protected override async afterEnd(): Promise<void> {
    await this.#front.close();
  }

  /** `ops/temporal/ui.yaml` and the container image have the same names. */
  #environment({ address, port }: HiddenUi): Readonly<Record<string, string | undefined>> {
    const { temporalAddress, namespace, codecEndpoint } = this.#options;
    return {
      PATH: process.env['PATH'],
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_DEFAULT_NAMESPACE: namespace,
      TEMPORAL_CODEC_ENDPOINT: codecEndpoint,
      TEMPORAL_CORS_ORIGINS: originsOf(this.#options.port).join(','),
      TEMPORAL_UI_HOST: address,
      TEMPORAL_UI_PORT: String(port),
    };
  }
}

/** The UI does not check `Host`: a web page must have to guess its address (16 million on Linux) and its port. */
export async function hiddenUi(): Promise<HiddenUi> {
  const port = await freePort();
  if (process.platform !== 'linux') return { address: '127.0.0.1', port };
  return { address: `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(2, 255)}`, port };
}

/** The proxy in front of a hidden UI, for as long as the process of the UI runs. */
export class UiFront {
  #proxy: SmallServer | undefined;

  async open({ address, port: hidden }: HiddenUi, port: number, child: Child): Promise<void> {
    await this.close();
    const target = `http://${address}:${hidden}`;
    this.#proxy = await startUiProxy({ host: '127.0.0.1', port, target, origins: originsOf(port) });
    // A stop meanwhile found no proxy to close.
    if (!child.running) await this.close();
  }

  async close(): Promise<void> {
    const proxy = this.#proxy;
    this.#proxy = undefined;
    await proxy?.close();
  }
}

function originsOf(port: number): string[] {
  return [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
}
