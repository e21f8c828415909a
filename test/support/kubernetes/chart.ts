/** The Helm chart, rendered by Helm. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { runTool } from '#cli/embedded/tool.ts';
import { PROJECT } from '#test/support/compose.ts';
import type { KubernetesTools } from '#test/support/kubernetes/tools.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

export const CHART = join(PROJECT, 'ops/helm/reseller-fulfilment');

const labels = z.record(z.string(), z.string());
const mount = z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() });
const container = z.looseObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  resources: z.object({ requests: labels, limits: labels }),
  volumeMounts: z.array(mount),
});
const volume = z.looseObject({
  name: z.string(),
  secret: z
    .object({ secretName: z.string(), items: z.array(z.object({ key: z.string(), path: z.string() })) })
    .optional(),
  configMap: z.object({ name: z.string() }).optional(),
});
const template = z.object({
  metadata: z.object({ labels, annotations: labels.optional() }),
  spec: z.looseObject({
    containers: z.tuple([container]),
    volumes: z.array(volume),
    terminationGracePeriodSeconds: z.number().optional(),
  }),
});
const object = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), annotations: labels.optional() }),
  spec: z.looseObject({ template: template.optional() }).optional(),
});

export type ChartObject = z.output<typeof object>;
/** A pod that the chart starts: its template, and the name of its process. */
interface ChartPod {
  readonly component: string;
  readonly template: z.output<typeof template>;
}

/** Values that every installation must give. */
export const REQUIRED = {
  service: { baseUrl: 'https://service.example/api/reseller/v1', email: 'shop@example.com' },
};

/** Renders the chart. @returns the manifests as text. @throws ToolError with the message of Helm. */
export async function renderedText({ helm }: KubernetesTools, values: object, name = 'shop', chart = CHART) {
  const file = join(temporaryFolder('chart'), 'values.yaml');
  writeFileSync(file, JSON.stringify(values));
  const args = ['template', name, chart, '--namespace', 'shops', '--values', file];
  return runTool(helm, args, { environment: process.env });
}

/** Renders the chart. @returns its objects. */
export async function rendered(
  tools: KubernetesTools,
  values: object,
  name = 'shop',
  chart = CHART,
): Promise<ChartObject[]> {
  return parseAllDocuments(await renderedText(tools, values, name, chart))
    .map((document) => document.toJS() as unknown)
    .filter((document) => document !== null)
    .map((document) => object.parse(document));
}

/** The pods of all objects. */
export function podsOf(objects: readonly ChartObject[]): ChartPod[] {
  const templates = objects.flatMap(({ spec }) => spec?.template ?? []);
  return templates.map((template) => ({
    component: template.metadata.labels['app.kubernetes.io/component'] ?? '',
    template,
  }));
}

/** The pod of a process. @throws Error if there is none. */
export function podOf(objects: readonly ChartObject[], component: string): ChartPod {
  const found = podsOf(objects).find((pod) => pod.component === component);
  if (found === undefined) throw new Error(`the chart starts no ${component}`);
  return found;
}

export function environmentOf({ template: { spec } }: ChartPod): Record<string, string> {
  return Object.fromEntries(spec.containers[0].env.map(({ name, value }) => [name, value]));
}

/** What scales processes by tasks that wait. */
export function scaledObjects(objects: readonly ChartObject[]): ChartObject[] {
  return objects.filter(({ kind }) => kind === 'ScaledObject');
}

const triggers = z.array(z.looseObject({ type: z.string(), metadata: labels }));

export function triggersOf(object: ChartObject | undefined): z.output<typeof triggers> {
  return triggers.parse(object?.spec?.['triggers']);
}
