import { describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { ANSWER_DIFFERENCES, NEEDED_FIELD_DIFFERENCES } from '#test/support/contract-differences/answers.ts';
import { Draft, type Difference } from '#test/support/contract-differences/draft.ts';
import { HARMLESS_DIFFERENCES } from '#test/support/contract-differences/harmless.ts';
import { describeHeaders, headersOf, INTERFACE_DIFFERENCES } from '#test/support/contract-differences/interface.ts';
import { PARAMETER_DIFFERENCES, REQUEST_DIFFERENCES } from '#test/support/contract-differences/requests.ts';
import { checkContract, readDocument, type ContractReport, type Finding } from '#upstream/contract-check.ts';

const DIFFERENCES: Readonly<Record<string, readonly Difference[]>> = {
  requests: REQUEST_DIFFERENCES,
  parameters: PARAMETER_DIFFERENCES,
  answers: ANSWER_DIFFERENCES,
  'needed fields': NEEDED_FIELD_DIFFERENCES,
  'address, calls and events': INTERFACE_DIFFERENCES,
  'harmless differences': HARMLESS_DIFFERENCES,
};

function reportOf({ change }: Difference, headerPrefix?: string): ContractReport {
  const draft = new Draft();
  change(draft);
  const document = readDocument(Buffer.from(JSON.stringify(draft.document)));
  return checkContract(document, ALL_CAPABILITIES, headerPrefix === undefined ? {} : { headerPrefix });
}

function placesOf(report: ContractReport, severity: Finding['severity']): string[] {
  const parts = [
    { of: 'document', findings: report.findings },
    ...report.calls.map(({ name, findings }) => ({ of: name, findings })),
    ...report.events.map(({ event, findings }) => ({ of: event, findings })),
  ];
  const found = parts.flatMap(({ of, findings }) =>
    findings.filter((each) => each.severity === severity).map(({ name = '' }) => `${of} ${name}`.trim()),
  );
  return [...new Set(found)].toSorted();
}

/** All notes of a harmless difference, and the expected ones of another. */
function relevantNotes({ verdict, at }: Difference, notes: readonly string[]): readonly string[] {
  if (verdict === 'breaking') return [];
  return verdict === 'compatible' ? notes : notes.filter((place) => at.includes(place));
}

describe.each(Object.entries(DIFFERENCES))('%s', (_subject, differences) => {
  it.each(differences.map((difference) => [difference.verdict, difference.name, difference] as const))(
    'the verdict is %s when %s',
    (verdict, _name, difference) => {
      const report = reportOf(difference);
      const found = { breaking: placesOf(report, 'breaking'), note: placesOf(report, 'note') };
      expect(report.compatible).toBe(verdict !== 'breaking');
      expect(found.breaking).toEqual(verdict === 'breaking' ? [...difference.at].toSorted() : []);
      expect(relevantNotes(difference, found.note)).toEqual(verdict === 'note' ? [...difference.at].toSorted() : []);
    },
  );
});

describe('headers of another prefix', () => {
  const branded: Difference = {
    name: 'a brand',
    verdict: 'breaking',
    at: [],
    change: (draft) => describeHeaders(draft, headersOf('X-Acme')),
  };

  it('are compatible with the configured prefix, and otherwise the finding names the setting', () => {
    expect(reportOf(branded, 'X-Acme').compatible).toBe(true);
    const [finding] = reportOf(branded).findings;
    expect(finding?.message).toBe('start with X-Acme, and ours with X-Service: set SERVICE_HEADER_PREFIX=X-Acme');
  });
});
