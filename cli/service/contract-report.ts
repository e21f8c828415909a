import { CAPABILITIES } from '#domain/service/capability-profile.ts';
import type { CallReport, CallStatus, ContractReport, EventReport, Finding } from '#upstream/contract-check.ts';

export function contractLines(report: ContractReport): string[] {
  const { title = 'OpenAPI document', version, openapi } = report.document;
  return [
    `${title}${version === undefined ? '' : ` ${version}`} (OpenAPI ${openapi})`,
    '',
    ...report.calls.flatMap(callLines),
    '',
    ...report.findings.map(documentLine),
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
  return [
    [optional ? '–' : SIGNS[status], method.padEnd(4), path, ...about].join(' '),
    ...(status === 'missing' ? [] : findings.map(findingLine)),
  ];
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

function documentLine(finding: Finding): string {
  return `${sign(finding)} ${finding.part}: ${sentence(finding)}`;
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

export function contractJson(report: ContractReport): unknown {
  return {
    compatible: report.compatible,
    document: report.document,
    findings: report.findings,
    calls: report.calls.map(({ foundAs, ...call }) => ({
      ...call,
      ...(foundAs === undefined ? {} : { found_as: foundAs }),
    })),
    events: report.events,
    switch_off: report.switchOff,
  };
}
