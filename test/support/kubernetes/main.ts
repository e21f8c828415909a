/** Builds the tools that check the Helm chart, before tests run that a build would slow down. */
import { kubernetesTools } from '#test/support/kubernetes/tools.ts';

await kubernetesTools();
