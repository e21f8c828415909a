import { describe, expect, it } from 'vitest';
import type { ObservationDecision } from '#domain/relay/observation.ts';
import {
  afterNotifying,
  decideInboxRow,
  INBOX_STATES,
  type InboxAction,
  type InboxState,
  type StoredInboxRow,
} from '#domain/relay/relay-decision.ts';

const DECISIONS = ['advance', 'known', 'contradiction'] as const satisfies readonly ObservationDecision[];
const pending = (decision: ObservationDecision | null): StoredInboxRow => ({
  state: 'pending',
  decision,
  isOurs: true,
});

const SETTLED = ['relayed', 'applied', 'unmatched', 'quarantined', 'replayed', 'ignored'] as const;

describe('a row of the inbox', () => {
  it('is pending, or has a state that needs no relay', () => {
    expect(INBOX_STATES).toEqual(['pending', ...SETTLED]);
  });

  it.each(SETTLED)('in the state %s is left unchanged', (state) => {
    for (const judged of DECISIONS) {
      for (const ended of [false, true])
        expect(decideInboxRow({ state, decision: 'advance', isOurs: true }, judged, ended)).toEqual({ kind: 'leave' });
    }
  });

  it('of another relay is left unchanged', () => {
    for (const judged of DECISIONS)
      expect(decideInboxRow({ ...pending(null), isOurs: false }, judged, false)).toEqual({ kind: 'leave' });
  });

  it.each<[stored: ObservationDecision | null, judged: ObservationDecision, action: InboxAction]>([
    [null, 'known', { kind: 'apply', decision: 'known' }],
    [null, 'advance', { kind: 'notify', decision: 'advance' }],
    [null, 'contradiction', { kind: 'notify', decision: 'contradiction' }],
    ['known', 'known', { kind: 'apply', decision: 'known' }],
    ['known', 'advance', { kind: 'notify', decision: 'advance' }],
    ['advance', 'known', { kind: 'notify', decision: 'advance' }],
    ['advance', 'contradiction', { kind: 'notify', decision: 'advance' }],
    ['contradiction', 'known', { kind: 'notify', decision: 'contradiction' }],
    ['contradiction', 'advance', { kind: 'notify', decision: 'contradiction' }],
  ])('decided as %s before and %s now, of open work, causes $kind', (stored, judged, action) => {
    expect(decideInboxRow(pending(stored), judged, false)).toEqual(action);
  });

  it('of ended work is judged against the final state, for any earlier decision, without a signal', () => {
    for (const stored of [null, ...DECISIONS]) {
      for (const judged of DECISIONS)
        expect(decideInboxRow(pending(stored), judged, true)).toEqual({ kind: 'apply', decision: judged });
    }
  });

  it.each([
    ['notified', false, 'relayed'],
    ['finished', false, 'try_again'],
    ['notified', true, 'judge_again'],
    ['finished', true, 'judge_again'],
  ] as const)('after the result %s of its signal (work ended: %s) is %s', (outcome, ended, next) => {
    expect(afterNotifying(outcome, ended)).toBe(next);
  });
});

/**
 * A row, the copies of two relays, and whether a workflow was signalled. The attempt is `completed` once the facts are
 * stored.
 */
interface World {
  readonly row: { readonly state: InboxState; readonly decision: ObservationDecision | null; readonly tries: number };
  readonly copies: readonly [Copy | undefined, Copy | undefined];
  readonly factsStored: boolean;
  readonly signalled: boolean;
}

interface Copy {
  readonly tries: number;
  readonly decision: ObservationDecision | null;
  /** Set while its signal runs. */
  readonly isSignalling: boolean;
}

type Rule = (row: World['row'], copy: Copy, judged: ObservationDecision) => InboxAction;

const RULE: Rule = ({ state, decision, tries }, copy, judged) =>
  decideInboxRow({ state, decision, isOurs: tries === copy.tries }, judged, false);
/** An earlier, wrong rule: uses the copy in memory. */
const RULE_OF_MEMORY: Rule = (_row, copy, judged) =>
  decideInboxRow({ state: 'pending', decision: copy.decision, isOurs: true }, judged, false);
/** Another wrong rule: reads the row under the lock, but judges again each time. */
const RULE_OF_PRESENT: Rule = ({ state, tries }, copy, judged) =>
  decideInboxRow({ state, decision: null, isOurs: tries === copy.tries }, judged, false);

/**
 * Every next state: each relay may take the row (any lease may have ended), judge it, or see its signal succeed or
 * fail.
 */
function* next(world: World, rule: Rule): Iterable<World> {
  for (const relay of [0, 1] as const) {
    const copy = world.copies[relay];
    const holding = (held: Copy | undefined) =>
      relay === 0 ? ([held, world.copies[1]] as const) : ([world.copies[0], held] as const);
    if (copy === undefined) {
      if (world.row.state !== 'pending' || world.row.tries === 4) continue;
      const tries = world.row.tries + 1;
      yield {
        ...world,
        row: { ...world.row, tries },
        copies: holding({ tries, decision: world.row.decision, isSignalling: false }),
      };
    } else if (copy.isSignalling) {
      const row = world.row.state === 'pending' ? { ...world.row, state: 'relayed' as const } : world.row;
      yield { ...world, row, signalled: true, copies: holding(undefined) };
      yield { ...world, copies: holding(undefined) };
    } else {
      const action = rule(world.row, copy, world.factsStored ? 'known' : 'advance');
      if (action.kind === 'leave') yield { ...world, copies: holding(undefined) };
      else if (action.kind === 'apply') {
        yield {
          ...world,
          row: { ...world.row, state: 'applied', decision: action.decision },
          copies: holding(undefined),
        };
      } else {
        const row = { ...world.row, decision: action.decision };
        yield { ...world, row, factsStored: true, copies: holding({ ...copy, isSignalling: true }) };
      }
    }
  }
}

/** Visits every reachable world. @returns their number, and one with a settled row and no signal. */
function explore(rule: Rule): { readonly worlds: number; readonly lost: World | undefined } {
  const start: World = {
    row: { state: 'pending', decision: null, tries: 0 },
    copies: [undefined, undefined],
    factsStored: false,
    signalled: false,
  };
  const seen = new Set([JSON.stringify(start)]);
  const open = [start];
  for (let world = open.pop(); world !== undefined; world = open.pop()) {
    if (world.row.state === 'applied' && !world.signalled && world.copies.every((copy) => copy?.isSignalling !== true))
      return { worlds: seen.size, lost: world };
    for (const each of next(world, rule)) {
      const key = JSON.stringify(each);
      if (!seen.has(key)) open.push(each);
      seen.add(key);
    }
  }
  return { worlds: seen.size, lost: undefined };
}

describe('two relays, in every order of their steps', () => {
  it('never settle a row that advanced an attempt without a signal to its workflow', () => {
    const { worlds, lost } = explore(RULE);
    expect(lost).toBeUndefined();
    expect(worlds).toBeGreaterThan(100);
  });

  it.each([
    ['the copy in memory', RULE_OF_MEMORY],
    ['the present state alone', RULE_OF_PRESENT],
  ])('(defect) lose the signal with the rule %s', (_name, rule) => {
    expect(explore(rule).lost).toMatchObject({ row: { state: 'applied', decision: 'known' }, signalled: false });
  });
});
