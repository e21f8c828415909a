/** What the Temporal UI shows of work that waits: an operator must find out what to do from it alone. */
import { describe, expect, it } from 'vitest';
import { VERDICTS_OF, type OperatedAttempt } from '#domain/operator/operator-actions.ts';
import { verdictMeanings } from '#domain/operator/possible-actions.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import { ID_PREFIXES } from '#domain/work/identifiers.ts';
import { KINDS, WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { adviceOf } from '#domain/work/status-text.ts';
import { holdReasons, waitingStates } from '#test/support/work/waiting-states.ts';
import { currentDetails, type Shown } from '#workflows/run/display.ts';

const idOf = (kind: WorkKind) => `${ID_PREFIXES[kind]}_1`;
const shownText = (kind: WorkKind, shown: Partial<Shown>) =>
  currentDetails({ kind, id: idOf(kind) }, { status: 'held', now: 'Now.', next: 'Next.', ...shown }, 'run-1');

const attempt = (state: OperatedAttempt['state'], settled = false): OperatedAttempt => ({ state, settled });

describe('the current details of held work', () => {
  it.each(WORK_KINDS.flatMap((kind) => holdReasons.map((failure) => [kind, failure] as const)))(
    'of a %s (%s) explain the reason, and give the commands that are possible',
    (kind, failure) => {
      const { command, isPurchase } = KINDS[kind];
      const text = shownText(kind, { failure, attempt: attempt('refused') });
      expect(text).toContain(FAILURE_CLASSES[failure].meaning);
      expect(text).toContain(adviceOf({ status: 'held', failure }));
      for (const action of ['retry', 'abandon', ...(isPurchase ? ['release'] : [])])
        expect(text).toContain(`\`npx reseller ${command} ${action} ${idOf(kind)} --reason '…'\``);
      expect(text.includes(' release ')).toBe(isPurchase);
    },
  );

  it('name the limit and what holds other purchases where they are the cause', () => {
    const heldBy = (kind: WorkKind, failure: FailureClass) =>
      shownText(kind, { failure, attempt: attempt('prepared') });
    expect(heldBy('order', 'price_above_limit')).toContain("`npx reseller orders limit ord_1 '…' --reason '…'`");
    for (const failure of ['purchases_paused', 'insufficient_balance', 'service_down'] as const)
      expect(heldBy('topup', failure)).toContain('`npx reseller gate show`');
    expect(heldBy('order', 'package_unavailable')).not.toContain('gate show');
  });
});

describe('the current details of work with a case', () => {
  it.each(waitingStates)('of a %s (%s, attempt %o) say how it can go on', (kind, attention, of) => {
    const { command } = KINDS[kind];
    const text = shownText(kind, { status: 'needs_attention', attention, attempt: of });
    const { meaning, advice } = ATTENTION_REASONS[attention];
    expect(text).toContain(meaning);
    expect(text).toContain(advice);
    expect(text).toMatch(/\n- `npx reseller /);
    const resolve = `\`npx reseller ${command} resolve ${idOf(kind)} --case ${attention} --verdict … --reason '…'\``;
    expect(text.includes(resolve)).toBe(VERDICTS_OF[attention].length > 0);
    const meanings = verdictMeanings(kind);
    for (const verdict of VERDICTS_OF[attention]) expect(text).toContain(`  - \`${verdict}\`: ${meanings[verdict]}`);
    expect(text.includes(`${command} retry ${idOf(kind)} `)).toBe(attention !== 'contradiction');
  });

  it('exist for every reason of a case about work', () => {
    const walked = new Set<AttentionReason>(waitingStates.map(([, attention]) => attention));
    expect([...walked, 'webhook_conflict'].toSorted()).toEqual(Object.keys(ATTENTION_REASONS).toSorted());
  });

  it('offer no abandonment of what may be bought', () => {
    const unknown = { status: 'needs_attention', attention: 'outcome_unknown' } as const;
    expect(shownText('order', { ...unknown, attempt: attempt('unknown') })).not.toContain(' abandon ');
    expect(shownText('order', { ...unknown, attempt: attempt('failed', true) })).toContain(' abandon ');
  });
});

describe('the current details of work that needs nobody', () => {
  it('tell a failure from a success, what was charged, and the price limit', () => {
    const charged = '3.20 USD';
    const failed = shownText('order', { status: 'failed', attempt: { ...attempt('failed', true), charged } });
    expect(failed).toMatch(/^### ✗ failed/);
    expect(failed).not.toContain('Charged');
    expect(shownText('cancellation', { status: 'refused' })).toMatch(/^### ✗ refused/);
    const bought = { ...attempt('completed'), charged };
    const completed = shownText('order', { status: 'completed', attempt: bought, maxPrice: '5.00 USD' });
    expect(completed).toMatch(/^### completed[^]*\*\*Charged:\*\* 3\.20 USD\n\n\*\*Price limit:\*\* 5\.00 USD/);
  });

  it('give no commands', () => {
    for (const status of ['submitting', 'processing', 'completed'] as const)
      expect(shownText('order', { status, attempt: attempt('processing') })).not.toContain('npx reseller');
    // A row that PostgreSQL has lost: no command finds it.
    expect(shownText('order', { status: 'needs_attention', attention: 'records_lost' })).not.toContain('npx reseller');
  });
});
