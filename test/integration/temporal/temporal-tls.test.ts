import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PARTS, type TemporalConfig } from '#config/config.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { createWorkerDataConverter } from '#temporal/codec/payload-codec.ts';
import { connect, connectNative, createClient, TemporalUnavailableError } from '#temporal/connection.ts';
import { setUpNamespace } from '#temporal/set-up.ts';
import { startApiKeyGate } from '#test/support/network/api-key-gate.ts';
import { CertificateAuthority, contentsOf, type CertificateFiles } from '#test/support/network/certificates.ts';
import { startOwnCluster, type OwnCluster } from '#test/support/servers/own-cluster.ts';
import { temporalAddress } from '#test/support/servers/temporal.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';

quietRuntime();

/** The name in the certificate of the frontend; it is not the host of the address. */
const SERVER_NAME = 'temporal.internal.example';
const keyRing = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);

let folder: string;
let cluster: OwnCluster;
let authority: CertificateAuthority;
let stranger: CertificateAuthority;
let frontend: CertificateFiles;
let client: CertificateFiles;
let unknownClient: CertificateFiles;

beforeAll(async () => {
  folder = temporaryFolder('temporal-tls');
  authority = await CertificateAuthority.create(folder);
  stranger = await CertificateAuthority.create(folder, 'stranger');
  [frontend, client, unknownClient] = await Promise.all([
    authority.issue('frontend', [SERVER_NAME]),
    authority.issue('client'),
    stranger.issue('client'),
  ]);
  cluster = await startOwnCluster({
    tls: {
      ...frontend,
      ca: authority.ca,
      clientCa: authority.ca,
      client: { ca: readFileSync(authority.ca), client: contentsOf(client), serverName: SERVER_NAME },
    },
  });
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  removeFolder(folder);
});

/** The variables with which everything is right. */
const right = () => ({
  TEMPORAL_ADDRESS: cluster.address,
  TEMPORAL_NAMESPACE: `tls-${randomBytes(4).toString('hex')}`,
  TEMPORAL_TLS_CA: authority.ca,
  TEMPORAL_TLS_CERT: client.cert,
  TEMPORAL_TLS_KEY: client.key,
  TEMPORAL_TLS_SERVER_NAME: SERVER_NAME,
});

describe('a cluster that requires client certificates', () => {
  it('gives us a namespace, and our worker and client run a workflow there', async () => {
    const config = PARTS.temporal(right());
    expect((await setUpNamespace(config)).namespaceCreated).toBe(true);
    expect(await runOne(config)).toBe('COMPLETED');
  });

  it.each<[string, () => Record<string, string>, RegExp]>([
    ['no TLS', () => ({}), /expects TLS: set TEMPORAL_TLS=true/],
    ['no authority', () => ({ TEMPORAL_TLS: 'true' }), /not public: set TEMPORAL_TLS_CA/],
    ['the wrong authority', () => ({ TEMPORAL_TLS_CA: stranger.ca }), /no authority in TEMPORAL_TLS_CA has issued/],
    [
      'no server name',
      () => ({ TEMPORAL_TLS_CA: authority.ca }),
      /other names \(temporal\.internal\.example\).*SERVER_N/,
    ],
    ['no client certificate', () => withoutClient(), /requires a client certificate.*TEMPORAL_TLS_CERT/],
    ['a client certificate of another authority', () => withClientOf(unknownClient), /refuses our client certificate/],
  ])('is not reached with %s, and the error says what to do', async (_, environment, expected) => {
    const config = PARTS.temporal({ TEMPORAL_ADDRESS: cluster.address, ...environment() });
    for (const connectIt of [connect, connectNative] as const) {
      const connecting = connectIt(config, { timeoutMs: 1_500 });
      await expect(connecting).rejects.toThrow(TemporalUnavailableError);
      await expect(connecting).rejects.toThrow(expected);
    }
  });
});

describe('a cluster that requires an API key', () => {
  const API_KEY = 'tmprl_a-key';
  const keyed = (address: string, apiKey: string) =>
    PARTS.temporal({ ...right(), ...tlsOnly(), TEMPORAL_ADDRESS: address, TEMPORAL_API_KEY: apiKey });

  it('gives us a namespace, and every call of our worker and client has the key', async () => {
    await using gate = await startApiKeyGate(contentsOf(frontend), temporalAddress(), API_KEY);
    const config = keyed(gate.address, API_KEY);
    expect((await setUpNamespace(config)).namespaceCreated).toBe(true);
    expect(await runOne(config)).toBe('COMPLETED');
    expect(gate.refused).toEqual([]);
    const calls = ['RegisterNamespace', 'PollWorkflowTaskQueue', 'RespondActivityTaskCompleted', 'DescribeWorkflow'];
    for (const call of calls) expect(gate.accepted.join()).toContain(call);
  });

  it('is not reached with another key, and the error names the variable', async () => {
    await using gate = await startApiKeyGate(contentsOf(frontend), temporalAddress(), API_KEY);
    for (const connectIt of [connect, connectNative] as const)
      await expect(connectIt(keyed(gate.address, 'wrong'))).rejects.toThrow(
        /refuses our credentials: check TEMPORAL_API_KEY/,
      );
    expect(gate.accepted).toEqual([]);
  });
});

describe('another server', () => {
  it('without TLS is recognised', async () => {
    const config = PARTS.temporal({ TEMPORAL_ADDRESS: temporalAddress(), TEMPORAL_TLS: 'true' });
    await expect(connect(config, { timeoutMs: 1_500 })).rejects.toThrow(/does not use TLS: remove TEMPORAL_TLS/);
  });

  it('that speaks TLS and no HTTP/2 is recognised', async () => {
    const server = createTlsServer(contentsOf(frontend), (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await expect(connect(await at(server, { ...tlsOnly() }), { timeoutMs: 1_500 })).rejects.toThrow(/not by HTTP\/2/);
  });

  it('that answers nothing at all gets the general advice', async () => {
    const server = createTcpServer((socket) => socket.on('error', () => undefined));
    await expect(connect(await at(server, {}), { timeoutMs: 1_500 })).rejects.toThrow(/does not answer.*without TLS/);
  });
});

/** Runs a worker and one workflow. @returns the status of the workflow. */
async function runOne(config: TemporalConfig): Promise<string> {
  const connection = await connectNative(config);
  const worker = await Worker.create({
    connection,
    namespace: config.namespace,
    taskQueue: 'tls',
    workflowsPath: new URL('temporal-workflows.ts', import.meta.url).pathname,
    activities: { beat: async () => undefined },
    dataConverter: createWorkerDataConverter(keyRing),
  });
  try {
    const { workflow } = createClient(connection, config, keyRing);
    const start = { workflowId: 'one', taskQueue: 'tls' };
    await worker.runUntil(() => workflow.execute('beatingWorkflow', start));
    return (await workflow.getHandle('one').describe()).status.name;
  } finally {
    await connection.close();
  }
}

const tlsOnly = () => ({ TEMPORAL_TLS_CA: authority.ca, TEMPORAL_TLS_SERVER_NAME: SERVER_NAME });
const withoutClient = tlsOnly;
const withClientOf = ({ cert, key }: CertificateFiles) => ({
  ...tlsOnly(),
  TEMPORAL_TLS_CERT: cert,
  TEMPORAL_TLS_KEY: key,
});

/** The configuration for a server of this test, which listens until the test ends. */
async function at(
  server: ReturnType<typeof createTcpServer> | ReturnType<typeof createTlsServer>,
  environment: Readonly<Record<string, string>>,
): Promise<TemporalConfig> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return PARTS.temporal({ ...environment, TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
}
