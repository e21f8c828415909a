import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import * as z from 'zod';
import { DRAIN_MS } from '#api/http/server.ts';
import { runTool } from '#cli/embedded/tool.ts';
import { PARTS, readApiConfig, readCodecServerConfig, readWorkerConfig } from '#config/config.ts';
import { SECRET_NAMES, VARIABLE_NAMES } from '#config/variables.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { PROJECT } from '#test/support/compose.ts';
import {
  CHART,
  type ChartObject,
  environmentOf,
  podOf,
  podsOf,
  rendered,
  renderedText,
  REQUIRED,
  scaledObjects,
  triggersOf,
} from '#test/support/kubernetes/chart.ts';
import { kubernetesTools } from '#test/support/kubernetes/tools.ts';
import { CertificateAuthority, contentsOf } from '#test/support/network/certificates.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import * as messages from '#workflows/messages.ts';

const tools = await kubernetesTools();
const PEER = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }];
/** Everything that is optional, switched on. */
const EVERYTHING = {
  ...REQUIRED,
  secrets: {
    keys: {
      databasePassword: 'database-password',
      databaseDirectUrl: 'direct',
      serviceWebhookSecrets: 'webhooks',
      temporalApiKey: 'temporal-api-key',
      temporalCa: 'temporal-ca',
      temporalCert: 'temporal-cert',
      temporalKey: 'temporal-key',
      otlpHeaders: 'otlp-headers',
      otlpTracesHeaders: 'otlp-traces-headers',
      httpsProxy: 'https-proxy',
      httpProxy: 'http-proxy',
      webhookProxy: 'webhook-proxy',
    },
  },
  temporal: { serverName: 'temporal.example.com' },
  policy: { retry: { hold_deadline: '24h' }, gate: { spend_limit: '500.00 USD' } },
  worker: {
    autoscaling: { enabled: true, authenticationRef: 'temporal' },
    versioning: { enabled: true, previous: [{ buildId: '0.1.0', tag: '0.1.0' }] },
  },
  api: { allowFrom: PEER, publicUrl: 'https://api.example.com', trustedProxies: '10.0.0.0/8' },
  codec: { allowFrom: PEER },
  networkPolicy: { metricsFrom: PEER },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  image: { pullSecrets: [{ name: 'registry' }], digest: `sha256:${'0'.repeat(64)}` },
  nodeSelector: { pool: 'shops' },
  tolerations: [{ key: 'shops', operator: 'Exists' }],
  podAnnotations: { team: 'shops' },
};
const OFF = { enabled: false };
const NOTHING = { ...REQUIRED, migration: OFF, codec: OFF, networkPolicy: OFF, api: { autoscaling: OFF } };
const SETTINGS = [
  ['as it is', REQUIRED],
  ['with everything switched on', EVERYTHING],
  ['with everything switched off', NOTHING],
] as const;

/** Where the chart mounts files. */
const FOLDER = '/etc/reseller/';
const authority = await CertificateAuthority.create(temporaryFolder('certificates'));
const certificate = contentsOf(await authority.issue('client'));
const CONTENTS: Readonly<Record<string, string | Buffer>> = {
  TEMPORAL_TLS_CA: readFileSync(authority.ca),
  TEMPORAL_TLS_CERT: certificate.cert,
  TEMPORAL_TLS_KEY: certificate.key,
  ENCRYPTION_KEYS_FILE: `k1:${Buffer.alloc(32).toString('base64')}`,
  DATABASE_URL_FILE: 'postgres://reseller@postgres/reseller',
  DATABASE_DIRECT_URL_FILE: 'postgres://reseller@direct/reseller',
  CODEC_TOKEN_FILE: 'a-token-of-the-codec-server',
  SERVICE_WEBHOOK_SECRETS_FILE: 'whsec_0123456789',
  HTTPS_PROXY_FILE: 'http://proxy.example:3128',
  HTTP_PROXY_FILE: 'http://proxy.example:3128',
  WEBHOOK_PROXY_FILE: 'http://proxy.example:3128',
  OTEL_EXPORTER_OTLP_HEADERS_FILE: 'x-api-key=of-all-signals',
  OTEL_EXPORTER_OTLP_TRACES_HEADERS_FILE: 'x-api-key=of-traces',
};

/** The environment of a process of the chart on this machine: each file at another place, with a fitting content. */
function environmentHere(objects: readonly ChartObject[], component: string): Record<string, string> {
  const folder = temporaryFolder('chart-files');
  return Object.fromEntries(
    Object.entries(environmentOf(podOf(objects, component))).map(([name, value]) => {
      if (!value.startsWith(FOLDER)) return [name, value];
      const file = join(folder, name);
      const policy = () => policyMap.parse(objects.find(({ kind }) => kind === 'ConfigMap')).data['policy.yaml'];
      writeFileSync(file, name === 'POLICY_FILE' ? policy() : (CONTENTS[name] ?? 'secret'));
      return [name, file];
    }),
  );
}

const scaled = z.looseObject({ scaleTargetRef: z.object({ name: z.string() }).optional() });
const egress = z.array(z.object({ ports: z.array(z.object({ port: z.number() })) }));
const policyMap = z.object({ data: z.object({ 'policy.yaml': z.string() }) });

const selectorOf = (object: ChartObject | undefined): unknown => {
  const { selector, podSelector } = (object?.spec ?? {}) as Record<string, Record<string, unknown> | undefined>;
  return podSelector?.['matchLabels'] ?? selector?.['matchLabels'] ?? selector;
};

/** The process whose pods an object selects. */
const componentOf = (object: ChartObject): string =>
  z.record(z.string(), z.string()).parse(selectorOf(object))['app.kubernetes.io/component'] ?? '';

/** The longest time that a workflow gives an activity, in seconds. */
function longestActivity(): number {
  const folder = join(PROJECT, 'workflows');
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  const literals = [...texts.join('\n').matchAll(/(?:startToCloseTimeout: |within\()'(\d+)(s|m)'/g)];
  expect(literals.length).toBeGreaterThan(5);
  const seconds = literals.map(([, count, unit]) => Number(count) * (unit === 'm' ? 60 : 1));
  return Math.max(...seconds, DEFAULT_POLICY.purchase.sendActivityTimeoutMs / 1_000);
}

describe.skipIf(tools === undefined)('the Helm chart', () => {
  if (tools === undefined) return;
  const environment = { ...process.env, KUBECONFIG: '/dev/null' };
  /** The oldest version that the chart supports, and a new one. */
  const VERSIONS = { oldest: [], newest: ['--local-schemas', tools.newerSchemas] } as const;
  const validate = async (manifests: string, version: keyof typeof VERSIONS = 'oldest') => {
    const file = join(temporaryFolder('manifests'), 'all.yaml');
    writeFileSync(file, manifests);
    const definitions = tools.definitions.flatMap((folder) => ['--local-crds', folder]);
    return runTool(tools.validate, ['--version', '1.30', ...VERSIONS[version], ...definitions, file], { environment });
  };

  it('has no finding of helm lint', async () => {
    const file = join(temporaryFolder('chart'), 'values.yaml');
    writeFileSync(file, stringify(EVERYTHING));
    const lint = ['lint', '--strict', CHART, '--values', file];
    const found = await runTool(tools.helm, lint, { environment: process.env });
    expect(found).toMatch(/1 chart\(s\) linted, 0 chart\(s\) failed/);
  });

  it.each(SETTINGS)('is valid by the schemas of Kubernetes and of the custom resources %s', async (_name, values) => {
    const text = await renderedText(tools, values);
    expect(await validate(text, 'oldest')).toContain('OK');
    expect(await validate(text, 'newest')).toContain('OK');
  });

  it.each([
    [{ ...REQUIRED, wroker: {} }, 'wroker'],
    [{ ...REQUIRED, api: { replica: 3 } }, 'replica'],
    [{ ...REQUIRED, policy: { retry: { hold_dealy: '1s' } } }, 'hold_dealy'],
    [{ ...REQUIRED, policy: { retry: { hold_delay: 'soon' } } }, 'hold_delay'],
    [{ ...REQUIRED, logLevel: 'loud' }, 'logLevel'],
  ])('refuses a value that it does not have: %j', async (values, name) => {
    await expect(renderedText(tools, values)).rejects.toMatchObject({ output: expect.stringContaining(name) });
  });

  it.each([
    [{ service: { email: 'shop@example.com' } }, 'service.baseUrl is required'],
    [{ service: { baseUrl: 'https://x/api/reseller/v1' } }, 'service.email is required'],
    [{ ...REQUIRED, temporal: { address: '' } }, 'temporal.address is required'],
    [{ ...REQUIRED, secrets: { keys: { codecToken: '' } } }, 'secrets.keys.codecToken is required'],
    [
      { ...REQUIRED, codec: { withoutToken: true } },
      'codec.withoutToken needs networkPolicy.enabled and codec.allowFrom',
    ],
  ])('names a missing value: %j', async (values, message) => {
    await expect(renderedText(tools, values)).rejects.toMatchObject({ output: expect.stringContaining(message) });
  });

  describe.each(SETTINGS)('%s', (_name, values) => {
    it('runs every process without privileges, token and writable files', async () => {
      const pods = podsOf(await rendered(tools, values));
      expect(pods.length).toBeGreaterThanOrEqual(2);
      for (const { component, template } of pods) {
        const { spec } = template;
        expect(spec, component).toMatchObject({
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        });
        const [container] = spec.containers;
        expect(container['securityContext'], component).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        const writable = container.volumeMounts.filter(({ readOnly }) => readOnly !== true);
        expect(writable).toEqual([{ name: 'tmp', mountPath: '/tmp' }]);
        expect(container.resources.limits['memory'], component).toMatch(/i$/);
        expect(container.resources.requests, component).toMatchObject({ cpu: /./, memory: /./ });
      }
    });

    it('gives each process only variables that the product knows, and no secret as a value', async () => {
      for (const pod of podsOf(await rendered(tools, values))) {
        const environment = environmentOf(pod);
        const names = Object.keys(environment);
        expect(names.filter((name) => !VARIABLE_NAMES.has(name))).toEqual([]);
        expect(names.filter((name) => VARIABLE_NAMES.has(`${name}_FILE`))).toEqual([]);
        const [secrets] = pod.template.spec.volumes.flatMap(({ secret }) => secret ?? []);
        const files = Object.values(environment).filter((value) => value.startsWith(`${FOLDER}secrets/`));
        const mounted = (secrets?.items ?? []).map(({ path }) => `/etc/reseller/secrets/${path}`);
        expect(files.toSorted()).toEqual(mounted.toSorted());
      }
    });

    it('starts processes that exist, with an environment that they accept', async () => {
      const objects = await rendered(tools, values);
      for (const { template } of podsOf(objects)) {
        const [node, script = ''] = template.spec.containers[0].command;
        expect([node, existsSync(join(PROJECT, script))]).toEqual(['node', true]);
      }
      expect(readApiConfig(environmentHere(objects, 'api'))).toMatchObject({ host: '0.0.0.0', port: 3000 });
      const { probeHost, probePort, temporal } = readWorkerConfig(environmentHere(objects, 'worker'));
      expect([probeHost, probePort, temporal.namespace]).toEqual(['0.0.0.0', 3001, 'reseller']);
    });

    it('selects pods that exist, by services, disruption budgets and network policies', async () => {
      const objects = await rendered(tools, values);
      const pods = podsOf(objects);
      const selecting = objects.filter(({ kind }) =>
        ['Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy'].includes(kind),
      );
      expect(selecting.length).toBeGreaterThanOrEqual(6);
      for (const { kind, metadata, spec } of selecting) {
        const selected = pods.filter(({ template }) =>
          Object.entries(selectorOf({ kind, metadata, spec }) as object).every(
            ([label, value]) => template.metadata.labels[label] === value,
          ),
        );
        // Of the workers, each version has a Deployment; services and network policies are of all versions.
        const isShared = kind === 'Service' || kind === 'NetworkPolicy';
        const found = isShared ? new Set(selected.map(({ component }) => component)) : new Set(selected);
        expect(found.size, `${kind} ${metadata.name}`).toBe(1);
      }
      const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
      // In a namespace that denies what no policy allows, each pod needs one.
      expect(policies.map(componentOf).toSorted()).toEqual(
        policies.length === 0 ? [] : [...new Set(pods.map(({ component }) => component))].toSorted(),
      );
      const named = objects.flatMap(({ spec }) => scaled.parse(spec ?? {}).scaleTargetRef?.name ?? []);
      for (const name of named) {
        const target = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
        // Otherwise each upgrade would undo the scaling.
        expect(target?.spec).not.toHaveProperty('replicas');
      }
    });
  });

  it('gives a process numbers and texts of the values as they are written there', async () => {
    const env = { API_RATE_LIMIT: 1_000_000, API_BODY_LIMIT: 12_345_678_901, OTEL_TRACES_SAMPLER_ARG: 0.25 };
    const objects = await rendered(tools, {
      ...REQUIRED,
      env: { OTEL_SDK_DISABLED: true, OTEL_RESOURCE_ATTRIBUTES: 'a="1e6"' },
      api: { env },
    });
    expect(environmentOf(podOf(objects, 'api'))).toMatchObject({
      API_RATE_LIMIT: '1000000',
      API_BODY_LIMIT: '12345678901',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_SDK_DISABLED: 'true',
      OTEL_RESOURCE_ATTRIBUTES: 'a="1e6"',
    });
  });

  it('gives the codec server and the migration an environment that they accept', async () => {
    const objects = await rendered(tools, EVERYTHING);
    expect(readCodecServerConfig(environmentHere(objects, 'codec')).token).toBe(CONTENTS['CODEC_TOKEN_FILE']);
    expect(PARTS.database(environmentHere(objects, 'migrate'))).toMatchObject({
      url: 'postgres://reseller:secret@postgres/reseller',
      directUrl: 'postgres://reseller:secret@direct/reseller',
    });
  });

  it('lets a proxy authenticate the callers of the codec server instead of a token', async () => {
    const codec = { withoutToken: true, allowFrom: PEER, allowedOrigin: 'https://ui.example.com:8443' };
    const config = readCodecServerConfig(environmentHere(await rendered(tools, { ...EVERYTHING, codec }), 'codec'));
    expect([config.token, config.allowedHosts]).toEqual([undefined, ['ui.example.com']]);
  });

  it('connects to Temporal with certificates and an API key from the Secret', async () => {
    const { temporal } = readWorkerConfig(environmentHere(await rendered(tools, EVERYTHING), 'worker'));
    expect(temporal).toEqual({
      address: 'temporal-frontend.temporal:7233',
      namespace: 'reseller',
      tls: { ca: readFileSync(authority.ca), client: certificate, serverName: 'temporal.example.com' },
      apiKey: 'secret',
    });
  });

  it('gives each process only the secrets that it needs', async () => {
    const objects = await rendered(tools, EVERYTHING);
    const database = ['DATABASE_DIRECT_URL_FILE', 'DATABASE_PASSWORD_FILE', 'DATABASE_URL_FILE'];
    const temporal = ['TEMPORAL_API_KEY_FILE', 'TEMPORAL_TLS_CA', 'TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'];
    const tracing = ['OTEL_EXPORTER_OTLP_HEADERS_FILE', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS_FILE'];
    const proxies = ['HTTPS_PROXY_FILE', 'HTTP_PROXY_FILE', 'WEBHOOK_PROXY_FILE'];
    const others = ['ENCRYPTION_KEYS_FILE', 'SERVICE_PASSWORD_FILE'];
    const product = [...database, ...others, ...tracing, ...temporal, ...proxies].toSorted();
    const filesOf = (component: string) =>
      Object.entries(environmentOf(podOf(objects, component)))
        .flatMap(([name, value]) => (value.startsWith(`${FOLDER}secrets/`) ? [name] : []))
        .toSorted();
    expect(filesOf('migrate')).toEqual(database);
    expect(filesOf('codec')).toEqual(['CODEC_TOKEN_FILE', 'ENCRYPTION_KEYS_FILE']);
    expect(filesOf('worker')).toEqual(product);
    expect(filesOf('api')).toEqual([...product, 'SERVICE_WEBHOOK_SECRETS_FILE'].toSorted());
    const mounted = new Set(['api', 'codec'].flatMap(filesOf));
    expect(SECRET_NAMES.filter((name) => !mounted.has(`${name}_FILE`))).toEqual([]);
  });

  it('restarts API and worker when the policy changes, and only then', async () => {
    const checksums = async (values: object) => {
      const objects = await rendered(tools, values);
      return ['api', 'worker'].map((name) => podOf(objects, name).template.metadata.annotations?.['checksum/policy']);
    };
    const before = await checksums(EVERYTHING);
    expect(before[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(await checksums({ ...EVERYTHING, logLevel: 'debug' })).toEqual(before);
    for (const changed of await checksums({ ...EVERYTHING, policy: {} })) expect(before).not.toContain(changed);
  });

  it.each([
    ['the ports of the values', [5432], [[53, 53], [5432]]],
    ['only DNS without ports', [], [[53, 53]]],
  ])('lets API, worker and migration call %s', async (_name, egressPorts, expected) => {
    const objects = await rendered(tools, { ...REQUIRED, networkPolicy: { egressPorts } });
    const policies = objects.filter(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name !== 'shop-codec');
    const ports = policies.map(({ spec }) =>
      egress.parse(spec?.['egress']).map((rule) => rule.ports.map((p) => p.port)),
    );
    expect(ports).toEqual([expected, expected, expected]);
  });

  it('lets a disruption budget have a minimum in place of the maximum, which Kubernetes refuses together', async () => {
    const budgetsWith = async (podDisruptionBudget: object) => {
      const values = { ...REQUIRED, api: { podDisruptionBudget }, worker: { podDisruptionBudget } };
      const budgets = (await rendered(tools, values)).filter(({ kind }) => kind === 'PodDisruptionBudget');
      return budgets.map(({ spec }) =>
        Object.fromEntries(Object.entries(spec ?? {}).filter(([key]) => key !== 'selector')),
      );
    };
    expect(await budgetsWith({})).toEqual([{ maxUnavailable: 1 }, { maxUnavailable: 1 }]);
    const minima = [1, 0, '50%'].map((minAvailable) => ({ minAvailable, unhealthyPodEvictionPolicy: 'AlwaysAllow' }));
    for (const given of [{ maxUnavailable: '25%' }, ...minima])
      expect(await budgetsWith(given)).toEqual([given, given]);
  });

  it.each([
    ['shop-eu', /^shop-eu-api$/],
    ['shop.eu', /^shop-eu-[0-9a-f]{6}-api$/],
    ['1e3', /^r-1e3-[0-9a-f]{6}-api$/],
    ['2030.a-release-with-the-longest-name-that-helm-takes', /^r-2030-a-release-with-the-longest-[0-9a-f]{6}-api$/],
  ])('gives objects of the release %s valid names, and labels that are texts', async (release, api) => {
    const text = await renderedText(tools, EVERYTHING, release);
    expect(await validate(text)).toContain('OK');
    const objects = await rendered(tools, EVERYTHING, release);
    const names = objects.flatMap(({ kind, metadata: { name } }) => (kind === 'Service' ? [name] : []));
    expect(names).toContainEqual(expect.stringMatching(api));
    // RFC 1035, by which Kubernetes 1.30 checks the name of a Service.
    for (const name of names) expect(name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
    expect(objects.find(({ kind }) => kind === 'ServiceAccount')?.metadata.name).toBe(release);
    for (const { component, template } of podsOf(objects)) {
      expect(template.metadata.labels['app.kubernetes.io/instance']).toBe(release);
      expect(template.spec['serviceAccountName']).toBe(component === 'migrate' ? undefined : release);
    }
  });

  it('lets a worker finish its longest activity, and an API its running answers', async () => {
    const objects = await rendered(tools, REQUIRED);
    const { shutdownGraceMs } = readWorkerConfig(environmentHere(objects, 'worker'));
    expect(shutdownGraceMs / 1_000).toBeGreaterThan(longestActivity());
    const graceOf = (name: string) => podOf(objects, name).template.spec.terminationGracePeriodSeconds ?? 0;
    expect(graceOf('worker')).toBeGreaterThan(shutdownGraceMs / 1_000);
    // Waiting callers are answered at once when the API stops.
    expect(graceOf('api')).toBeGreaterThan(5 + DRAIN_MS / 1_000);
  });

  it('scales workers by the backlog of every task queue, and never to zero', async () => {
    const [object] = scaledObjects(await rendered(tools, EVERYTHING));
    expect(object?.spec).toMatchObject({ minReplicaCount: 2 });
    const triggers = triggersOf(object);
    expect(new Set(triggers.map(({ type }) => type))).toEqual(new Set(['temporal']));
    const queues = Object.entries(messages).flatMap(([name, value]) => (name.endsWith('TASK_QUEUE') ? [value] : []));
    expect(new Set(triggers.map(({ metadata }) => metadata['taskQueue']))).toEqual(new Set(queues));
    expect(triggers).toHaveLength(queues.length);
    const names = new Set(triggers.map(({ metadata }) => metadata['tlsServerName']));
    expect(names).toEqual(new Set(['temporal.example.com']));
  });

  it('gives the processes the job names that the alert rules and the dashboards expect', async () => {
    const monitors = (await rendered(tools, EVERYTHING)).filter(({ kind }) => kind === 'ServiceMonitor');
    const endpoints = monitors.map(({ spec }) => spec?.['endpoints']);
    const named = (job: string) => [{ relabelings: [{ targetLabel: 'job', replacement: job }] }];
    expect(endpoints).toMatchObject([named('reseller-api'), named('reseller-worker')]);
  });

  it('migrates before the pods of a new version, without objects that exist only afterwards', async () => {
    const objects = await rendered(tools, REQUIRED);
    const job = objects.find(({ kind }) => kind === 'Job');
    expect(job?.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
    const policy = objects.find((each) => each.kind === 'NetworkPolicy' && componentOf(each) === 'migrate');
    expect(policy?.metadata.annotations).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      // Lower than 0, the weight of the job.
      'helm.sh/hook-weight': '-1',
    });
    expect(job?.metadata.annotations).not.toHaveProperty('helm.sh/hook-weight');
    const { spec } = podOf(objects, 'migrate').template;
    expect(spec).not.toHaveProperty('serviceAccountName');
    expect(spec.volumes.filter(({ configMap }) => configMap !== undefined)).toEqual([]);
  });
});
