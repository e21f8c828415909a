import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import type { DescribedOperation } from '#scripts/api/api-document.ts';

/** A line of the report about the requests to an operation. Other lines are ignored. */
const scenarioLine = z.object({
  ScenarioFinished: z.object({
    recorder: z.object({
      /** `GET /v1/orders/{id}`, or another text for a chain of calls. */
      label: z.string(),
      /** Requests by case. Missing if there are none. */
      interactions: z.record(z.string(), z.unknown()).default({}),
    }),
  }),
});

/**
 * Finds the operations without a request. A run that its time limit ended early has not checked them.
 *
 * @param reportFile the `ndjson` report of schemathesis.
 * @returns the operations as `GET /v1/orders/{id}`, in the given order.
 * @throws Error if there is no report, or a line is not JSON.
 */
export async function operationsWithoutCase(
  reportFile: string,
  operations: Iterable<Pick<DescribedOperation, 'method' | 'path'>>,
): Promise<string[]> {
  const reached = new Set<string>();
  for await (const line of createInterface({ input: createReadStream(reportFile) })) {
    const scenario = scenarioLine.safeParse(JSON.parse(line));
    if (!scenario.success) continue;
    const { label, interactions } = scenario.data.ScenarioFinished.recorder;
    if (Object.keys(interactions).length > 0) reached.add(label);
  }
  return [...operations]
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    .filter((label) => !reached.has(label));
}
