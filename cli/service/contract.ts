import { readFileSync, writeFileSync } from 'node:fs';
import { withProfileDatabase } from '#cli/service/capabilities.ts';
import { OwnToken, openOwnSession } from '#cli/service/own-session.ts';
import { actor } from '#cli/set-up/command-database.ts';
import { type Output, printJson, printLines, visibleLines } from '#cli/terminal/output.ts';
import { UserError, codeOf } from '#cli/terminal/user-error.ts';
import { readParts } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { FIRST_PURCHASE_CHECK_ADVICE, judgeFirstPurchaseCheck, nounOf } from '#domain/gate/first-purchase-check.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { CAPABILITIES } from '#domain/service/capability-profile.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { applyFirstPurchaseCheck, heldKinds, holdUntilSeen } from '#fulfilment/gate/pauses.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';
import {
  type CallReport,
  type CallStatus,
  checkContract,
  type ContractReport,
  type EventReport,
  type Finding,
  type JsonObject,
  readDocument,
  UnreadableDocument,
} from '#upstream/contract-check.ts';
import { lookAtService } from '#upstream/first-purchase-check.ts';
import { openService } from '#upstream/service.ts';

export interface ContractCheckOptions {
  readonly download?: boolean;
  readonly json?: boolean;
  /** Releases held purchases in production that the document proves safe. */
  readonly record?: boolean;
}

export const COMPATIBLE = 0;
export const NOT_COMPATIBLE = 1;
export const NO_DOCUMENT = 2;

/** @throws UserError without a document; with `record` also the errors of `recordDocument`. */
export async function checkContractFile(
  file: string | undefined,
  options: ContractCheckOptions,
  environment: Environment,
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output } = process,
): Promise<number> {
  const { capabilities, headerPrefix } = readParts(['capabilities', 'headerPrefix'], environment);
  const document = options.download === true ? await download(file, environment) : read(file);
  const report = checkContract(document, capabilities, { headerPrefix });
  if (options.json === true) printJson(stdout, contractJson(report));
  else printLines(stdout, contractLines(report));
  if (options.record !== true) return report.compatible ? COMPATIBLE : NOT_COMPATIBLE;
  const recorded = await recordDocument(document, environment);
  // With --json, standard output must be one JSON document.
  printLines(options.json === true ? stderr : stdout, recorded.lines);
  return report.compatible && recorded.nothingHeld ? COMPATIBLE : NOT_COMPATIBLE;
}

function noDocument(what: string, advice: string, cause?: unknown): UserError {
  return new UserError(what, advice, { exitCode: NO_DOCUMENT, cause });
}

function read(file: string | undefined): JsonObject {
  if (file === undefined) {
    const advice = 'Name the OpenAPI 3 document of the service, as JSON; --download gets it from the service.';
    throw noDocument('No file is named.', advice);
  }
  try {
    return documentIn(readFileSync(file), file);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    const advice = 'Check the name; --download gets it from the service.';
    throw noDocument(`${file} cannot be read (${codeOf(error)}).`, advice, error);
  }
}

function documentIn(bytes: Buffer, name: string): JsonObject {
  try {
    return readDocument(bytes);
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    const advice = 'Use the OpenAPI 3 document of the service, as JSON; --download gets it from the service.';
    throw noDocument(`${name} ${error.message}.`, advice, error);
  }
}

const BY_HAND = 'Get the document from the service by hand, and run the command without --download.';

/** Our side is the cause: getting the document by hand is no remedy. */
const OUR_CAUSES: Readonly<Partial<Record<ServiceFailure['failure'], string>>> = {
  unauthorized: FAILURE_CLASSES.unauthorized.advice,
  not_approved: FAILURE_CLASSES.not_approved.advice,
  not_sent: 'Check SERVICE_BASE_URL, and the network between.',
};

async function download(file: string | undefined, environment: Environment): Promise<JsonObject> {
  const service = openService({
    ...readParts(['service'], environment).service,
    deadlineMs: DEFAULT_POLICY.purchase.sendDeadlineMs,
    tokens: new OwnToken(),
    now: Date.now,
  });
  try {
    const answer = await service.client.getOpenApi();
    if (!answer.ok) {
      const off = 'SERVICE_MISSING_CAPABILITIES switches it off.';
      const reason = answer.kind === 'unsupported' ? off : answer.detail;
      const advice = answer.kind === 'unsupported' ? BY_HAND : (OUR_CAUSES[answer.failure] ?? BY_HAND);
      throw noDocument(`The OpenAPI document could not be downloaded. ${reason}`, advice);
    }
    const text = `${visibleLines(JSON.stringify(answer.value, null, 2))}\n`;
    if (file !== undefined) writeFileSync(file, text);
    return documentIn(Buffer.from(text), file ?? 'The document');
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    const advice = 'Use a file in a folder that you can write to.';
    throw noDocument(`${file ?? 'The document'} cannot be written (${codeOf(error)}).`, advice, error);
  } finally {
    await service.close();
  }
}

/**
 * Releases purchases that the document and free reads prove safe. Spends nothing. Before a worker's first start it
 * creates the pauses, so that their release is recorded.
 * @throws UserError in the sandbox, where nothing is held; errors of configuration and database.
 */
async function recordDocument(document: JsonObject, environment: Environment) {
  const { service: config, database: where } = readParts(['database', 'service'], environment);
  if (config.mode === 'sandbox') {
    throw new UserError(
      'SERVICE_MODE is sandbox, where no purchase is held for this check.',
      'Run the command without --record.',
    );
  }
  const deadlineMs = DEFAULT_POLICY.purchase.sendDeadlineMs;
  return await withProfileDatabase(where, config, 'write', async (database) => {
    await database.transaction((tx) => holdUntilSeen(tx, new Date()));
    const kinds = await database.run(heldKinds);
    if (kinds.length === 0) return { lines: ['No purchases are held for this check.'], nothingHeld: true };
    const service = openOwnSession(config, 'contract', { deadlineMs });
    try {
      const { capabilities } = config;
      const sightings = await lookAtService(service.client, { kinds, capabilities, deadlineMs, document });
      const lines: string[] = [];
      for (const [kind, sighting] of sightings) {
        const found = judgeFirstPurchaseCheck(kind, sighting);
        await database.transaction((tx) => applyFirstPurchaseCheck(tx, kind, found, actor(), new Date()));
        const text =
          found.kind === 'seen'
            ? `released. ${found.evidence}`
            : `held. ${found.reason.replace(FIRST_PURCHASE_CHECK_ADVICE, '').trimEnd()}`;
        lines.push(`${nounOf(kind)}: ${text}`);
      }
      const nothingHeld = (await database.run(heldKinds)).length === 0;
      return { lines: nothingHeld ? lines : [...lines, ADVICE], nothingHeld };
    } finally {
      await service.close();
    }
  });
}

// Replaces FIRST_PURCHASE_CHECK_ADVICE, which tells the operator to record a document.
const ADVICE =
  'Run `npx reseller sandbox tour` against the sandbox and confirm its profile here; ' +
  'or release the pause with `npx reseller gate release` to buy without the check.';

function contractLines(report: ContractReport): string[] {
  const { title = 'OpenAPI document', version, openapi } = report.document;
  return [
    `${title}${version === undefined ? '' : ` ${version}`} (OpenAPI ${openapi})`,
    '',
    ...report.calls.flatMap(callLines),
    '',
    ...report.findings.map((finding) => `${sign(finding)} ${finding.part}: ${sentence(finding)}`),
    ...eventLines(report.events),
    '',
    ...verdict(report),
  ];
}

const SIGNS: Readonly<Record<CallStatus, string>> = { matches: '✔', differs: '✘', missing: '✘', switched_off: '–' };

function callLines(call: CallReport): string[] {
  const { method, path, status, foundAs, findings } = call;
  const optional = status === 'missing' && findings.every(({ severity }) => severity === 'note');
  const about = [
    ...(foundAs === undefined ? [] : [`(there ${foundAs})`]),
    ...(status === 'switched_off' ? [`is switched off: ${call.capability}`] : []),
    ...(status === 'missing' ? findings.map(sentence) : []),
    ...(optional ? ['— nothing depends on it'] : []),
  ];
  const line = [optional ? '–' : SIGNS[status], method.padEnd(4), path, ...about].join(' ');
  return status === 'missing' ? [line] : [line, ...findings.map(findingLine)];
}

function eventLines(events: readonly EventReport[]): string[] {
  const silent = events.filter(({ status }) => status === 'undocumented').map(({ event }) => event);
  const lines = events
    .filter(({ status }) => status !== 'undocumented')
    .flatMap(({ event, status, findings }) => {
      if (status === 'missing') return findings.map((each) => `${sign(each)} event ${event} ${sentence(each)}`);
      return [`${status === 'matches' ? '✔' : '✘'} event ${event}`, ...findings.map(findingLine)];
    });
  if (silent.length === 0) return lines;
  const names = silent.length === events.length ? 'all' : silent.join(', ');
  return [...lines, `– events that are not described: ${names}`];
}

function sign({ severity }: Finding): string {
  return severity === 'breaking' ? '✘' : '–';
}

function findingLine(finding: Finding): string {
  const part = finding.part === 'request' || finding.part === 'answer' ? [`${finding.part}:`] : [];
  return ['   ', finding.severity === 'breaking' ? '✘' : 'note:', ...part, sentence(finding)].join(' ');
}

function sentence({ name, message, suggestions = [] }: Finding): string {
  const likely = suggestions.length === 0 ? '' : `; did you mean ${suggestions.join(' or ')}?`;
  return [name, message].filter((part) => part !== undefined).join(' ') + likely;
}

function verdict({ compatible, calls, events, switchOff }: ContractReport): string[] {
  const counted = (status: CallStatus): number => calls.filter((call) => call.status === status).length;
  const described = events.filter(({ status }) => status === 'matches' || status === 'differs').length;
  const totals =
    `${calls.length} calls: ${counted('matches')} match, ${counted('differs')} differ, ` +
    `${counted('missing')} missing, ${counted('switched_off')} switched off; ` +
    `${described} of ${events.length} events described.`;
  if (compatible) return [totals, 'Compatible: the document has everything that we need.'];
  if (switchOff.length === 0) {
    return [totals, 'Not compatible. Buy nothing before the causes of the differences are known.'];
  }
  return [
    totals,
    `Not compatible, but it would be with SERVICE_MISSING_CAPABILITIES=${switchOff.join(',')}`,
    ...switchOff.map((capability) => `    ${capability}: ${CAPABILITIES[capability]}`),
  ];
}

function contractJson({ compatible, document, findings, calls, events, switchOff }: ContractReport): unknown {
  const named = calls.map(({ foundAs, ...call }) => ({ ...call, ...(foundAs !== undefined && { found_as: foundAs }) }));
  return { compatible, document, findings, calls: named, events, switch_off: switchOff };
}
