import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  connect as connectHttp2,
  constants,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Worker } from '@temporalio/worker';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PARTS, type TemporalConfig } from '#config/config.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { createWorkerDataConverter } from '#temporal/codec/payload-codec.ts';
import { connect, connectNative, createClient, TemporalUnavailableError } from '#temporal/connection.ts';
import { setUpNamespace } from '#temporal/set-up.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { CertificateAuthority, contentsOf, type CertificateFiles } from '#test/support/network/certificates.ts';
import { startOwnCluster } from '#test/support/servers/own-cluster.ts';
import { temporalAddress } from '#test/support/servers/temporal.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';

quietRuntime();

/** The name in the certificate of the frontend; it is not the host of the address. */
const SERVER_NAME = 'temporal.internal.example';
const API_KEY = 'tmprl_a-key';
const keyRing = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);

const folder = temporaryFolder('temporal-tls');
const authority = await CertificateAuthority.create(folder);
const stranger = await CertificateAuthority.create(folder, 'stranger');
const frontend = await authority.issue('frontend', [SERVER_NAME]);
const client = await authority.issue('client');
const unknownClient = await stranger.issue('client');
const cluster = disposedAtEnd(
  await startOwnCluster({
    tls: {
      ...frontend,
      ca: authority.ca,
      clientCa: authority.ca,
      client: { ca: readFileSync(authority.ca), client: contentsOf(client), serverName: SERVER_NAME },
    },
  }),
);

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
    ['no client certificate', () => tlsOnly(), /requires a client certificate.*TEMPORAL_TLS_CERT/],
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
  const keyed = (address: string, apiKey: string) =>
    PARTS.temporal({ ...right(), ...tlsOnly(), TEMPORAL_ADDRESS: address, TEMPORAL_API_KEY: apiKey });

  it('gives us a namespace, and every call of our worker and client has the key', async () => {
    const gate = await startApiKeyGate();
    const config = keyed(gate.address, API_KEY);
    expect((await setUpNamespace(config)).namespaceCreated).toBe(true);
    expect(await runOne(config)).toBe('COMPLETED');
    expect(gate.refused).toEqual([]);
    const calls = ['RegisterNamespace', 'PollWorkflowTaskQueue', 'RespondActivityTaskCompleted', 'DescribeWorkflow'];
    for (const call of calls) expect(gate.accepted.join()).toContain(call);
  });

  it('is not reached with another key, and the error names the variable', async () => {
    const gate = await startApiKeyGate();
    const refusal = /refuses our credentials: check TEMPORAL_API_KEY/;
    for (const connectIt of [connect, connectNative] as const)
      await expect(connectIt(keyed(gate.address, 'wrong'))).rejects.toThrow(refusal);
    expect(gate.accepted).toEqual([]);
  });
});

describe('another server', () => {
  const withoutHttp2 = () =>
    createTlsServer(contentsOf(frontend), (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const silent = () => createTcpServer((socket) => socket.on('error', () => undefined));

  it.each([
    ['without TLS is recognised', undefined, () => ({ TEMPORAL_TLS: 'true' }), /does not use TLS: remove TEMPORAL_TLS/],
    ['that speaks TLS and no HTTP/2 is recognised', withoutHttp2, tlsOnly, /not by HTTP\/2/],
    ['that answers nothing at all gets the general advice', silent, () => ({}), /does not answer.*without TLS/],
  ])('%s', async (_what, serverOf, environment, advice) => {
    const address = serverOf === undefined ? temporalAddress() : await addressOf(serverOf());
    const config = PARTS.temporal({ ...environment(), TEMPORAL_ADDRESS: address });
    await expect(connect(config, { timeoutMs: 1_500 })).rejects.toThrow(advice);
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

function tlsOnly() {
  return { TEMPORAL_TLS_CA: authority.ca, TEMPORAL_TLS_SERVER_NAME: SERVER_NAME };
}
const withClientOf = ({ cert, key }: CertificateFiles) => ({
  ...tlsOnly(),
  TEMPORAL_TLS_CERT: cert,
  TEMPORAL_TLS_KEY: key,
});

/** The address of a server, which listens until the test ends. */
async function addressOf(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const UNAUTHENTICATED = '16';

/**
 * A Temporal frontend that requires an API key, as Temporal Cloud does: TLS and a check of the key before the shared
 * server, which does not see it. It runs until the test ends.
 *
 * @returns its address, and the paths of calls with the key and of those that were refused.
 */
async function startApiKeyGate() {
  const accepted: string[] = [];
  const refused: string[] = [];
  const target = temporalAddress();
  const upstream = connectHttp2(`http://${target}`);
  onTestFinished(() => upstream.destroy());
  const server = createSecureServer(contentsOf(frontend));
  server.on('stream', (stream: ServerHttp2Stream, { authorization, ...headers }) => {
    const isKnown = authorization === `Bearer ${API_KEY}`;
    (isKnown ? accepted : refused).push(headers[':path'] ?? '');
    stream.on('error', () => undefined);
    if (!isKnown) {
      const type = 'application/grpc';
      stream.respond({ 'content-type': type, 'grpc-status': UNAUTHENTICATED }, { endStream: true });
      return;
    }
    const call = upstream.request({ ...headers, ':scheme': 'http', ':authority': target });
    call.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    call.on('response', (answer, flags) => {
      const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond(answer, { endStream, waitForTrailers: !endStream });
    });
    call.on('trailers', (trailers: IncomingHttpHeaders) =>
      stream.once('wantTrailers', () => stream.sendTrailers(trailers)),
    );
    stream.on('close', () => call.close());
    stream.pipe(call).pipe(stream);
  });
  return { address: await addressOf(server), accepted, refused };
}
