/**
 * `npm run record:histories [-- NAME…]`: runs each scenario with the whole product, and writes its decoded history to
 * `histories/<version>/`. Each release records its own histories. Those of earlier releases stay, because workflows
 * that began with them may still run.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { EncryptionCodec } from '#temporal/codec/payload-codec.ts';
import { readProject } from '#test/support/compose.ts';
import { startOwnPostgres, startOwnTemporal } from '#test/support/servers/own-servers.ts';
import { keyRingOf, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';
import { decodedHistory } from '#test/support/work/workflows/histories.ts';
import { TemporalUi } from '#test/workflow/scenarios/scenario.ts';
import { SCENARIOS } from '#test/workflow/scenarios/scenarios.ts';
import { bundleWorkflows } from '#worker/bundle.ts';

const { version } = z.object({ version: z.string() }).parse(JSON.parse(readProject('package.json')));
const FOLDER = join(import.meta.dirname, 'histories', version);

/**
 * From this number of events on, the server suggests continue-as-new. All other scenarios have fewer events. In
 * production it is some thousands.
 */
const LONG_FROM = 150;

/** The scenarios named on the command line, or all. */
const chosen = Object.entries(SCENARIOS).filter(
  ([name]) => process.argv.length < 3 || process.argv.slice(2).includes(name),
);

await using postgres = await startOwnPostgres();
await using temporal = await startOwnTemporal({ longFrom: LONG_FROM });
const workflowBundle = join(temporaryFolder('bundle'), 'workflows.js');
await bundleWorkflows(workflowBundle);
await using stack = await startStack({ postgres, temporal, workflowBundle });
await using operator = await TemporalOperator.connect(stack);
const codec = new EncryptionCodec(keyRingOf(stack));
const desk = new OrderDesk(stack);
const ui = new TemporalUi(operator, codec);
mkdirSync(FOLDER, { recursive: true });
for (const [name, scenario] of chosen) {
  const given = await scenario(desk, ui);
  await desk.simulator.calm();
  if (typeof given === 'string') await operator.runReaches(given, 'COMPLETED');
  const run =
    typeof given === 'string'
      ? operator.order(given)
      : operator.client.workflow.getHandle(given.workflowId, given.runId);
  const history = await decodedHistory(await run.fetchHistory(), codec);
  // One event a line: a difference shows the events that changed.
  const { events } = z.object({ events: z.array(z.json()) }).parse(history);
  const lines = events.map((event) => JSON.stringify(event));
  writeFileSync(join(FOLDER, `${name}.json`), `{"events":[\n${lines.join(',\n')}\n]}\n`);
  process.stdout.write(`recorded ${version}/${name}\n`);
}
await desk.checkBooks();
