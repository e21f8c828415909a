/** The tools that check the Helm chart: built from source once, and cached. */
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { cacheDirectory, buildWithGo, goProblem, runTool } from '#cli/embedded/tool.ts';
import { PROJECT } from '#test/support/compose.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

export type KubernetesTools = NonNullable<Awaited<ReturnType<typeof kubernetesTools>>>;

const environment = process.env;

/** The programs; the versions are those in `ops/helm/tools/…/go.mod`. */
const PROGRAMS = {
  helm: { version: '4.3.1', program: 'helm.sh/helm/v4/cmd/helm' },
  'kubectl-validate': { version: '0.0.4', program: 'sigs.k8s.io/kubectl-validate' },
} as const;

// Go modules with definitions of resources. The module proxy keeps them; the sum proves the content.
const KEDA = {
  module: 'github.com/kedacore/keda/v2@v2.18.1',
  sum: 'h1:h6bRt/IOxxtZpJlHSqhdH/lcInH7Z9obxg/JvWOmGAw=',
  folder: 'config/crd/bases',
} as const;
const PROMETHEUS_OPERATOR = {
  module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
  sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
  folder: 'example/prometheus-operator-crd',
} as const;
const NEWER_KUBERNETES = {
  module: 'k8s.io/kubernetes@v1.36.0',
  sum: 'h1:JKaAkgSzI4+ZvNWrNJg56jAkUaOiqgBaJstmi6ycyoU=',
  folder: 'api/openapi-spec/v3',
} as const;

/**
 * Finds the tools in the cache, or builds them.
 *
 * @returns undefined, after a message, when there is no Go to build them with.
 * @throws Error in CI (`CI` is set) without Go; UserError when a build fails.
 */
export async function kubernetesTools() {
  const problem = await goProblem(environment);
  if (problem !== undefined) {
    if ((environment['CI'] ?? '') !== '') throw new Error(`The Helm chart cannot be checked: ${problem}.`);
    process.stderr.write(`\n!!! The tests of the Helm chart DO NOT RUN: ${problem}.\n\n`);
    return undefined;
  }
  return {
    helm: await programOf('helm'),
    validate: await programOf('kubectl-validate'),
    /** Folders with the definitions of custom resources: KEDA, Prometheus operator. */
    definitions: [await moduleFolder(KEDA), await moduleFolder(PROMETHEUS_OPERATOR)],
    /** Folder with the schemas of a newer Kubernetes than those in kubectl-validate, in the form that it reads. */
    newerSchemas: arranged(await moduleFolder(NEWER_KUBERNETES)),
  };
}

async function programOf(name: keyof typeof PROGRAMS): Promise<string> {
  const { version, program } = PROGRAMS[name];
  const target = join(cacheDirectory(environment), `${name}-${version}`, name);
  if (existsSync(target)) return target;
  const module = join(PROJECT, 'ops/helm/tools', name);
  process.stderr.write(`Building ${name} ${version} once; this takes some minutes.\n`);
  await buildWithGo({ module, program, target, environment, progress: () => undefined });
  return target;
}

/** Copies `apis__apps__v1_openapi.json` to `apis/apps/v1.json`, where kubectl-validate looks. */
function arranged(published: string): string {
  const folder = temporaryFolder('kubernetes-schemas');
  for (const file of readdirSync(published)) {
    const [, name] = /^(api__[^_]+|apis__[^_]+__[^_]+)_openapi\.json$/.exec(file) ?? [];
    if (name === undefined) continue;
    const target = join(folder, `${name.replaceAll('__', '/')}.json`);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(published, file), target);
  }
  return folder;
}

const downloaded = z.object({ Dir: z.string(), Sum: z.string() });

/** @returns the path of the folder in a module. */
async function moduleFolder({ module, sum, folder }: Readonly<Record<'module' | 'sum' | 'folder', string>>) {
  const answer = await runTool('go', ['mod', 'download', '-json', module], { environment });
  const { Dir: path, Sum: found } = downloaded.parse(JSON.parse(answer));
  if (found !== sum) throw new Error(`${module} has other content than expected: ${found}`);
  return join(path, folder);
}
