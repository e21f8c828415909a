import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import * as z from 'zod';

/** An operation as the description has it. */
export interface FuzzedOperation {
  readonly method: string;
  /** With `{name}` for parameters. */
  readonly path: string;
}

/**
 * What one line of the report says where it tells of the requests made to an operation; other lines tell of something
 * else.
 */
const scenarioLine = z.object({
  ScenarioFinished: z.object({
    recorder: z.object({
      /** `GET /v1/orders/{id}`; of a chain of calls another text. */
      label: z.string(),
      /** Requests by case. Left out where none was made. */
      interactions: z.record(z.string(), z.unknown()).default({}),
    }),
  }),
});

/**
 * Which operations no request was made to: a run that its time limit ends early has found nothing wrong with those
 * either.
 *
 * @param reportFile what schemathesis wrote as `ndjson`: an event a line.
 * @returns them as `GET /v1/orders/{id}`, in the order given.
 * @throws Error when there is no report, or a line of it is no JSON.
 */
export async function operationsWithoutCase(
  reportFile: string,
  operations: Iterable<FuzzedOperation>,
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
