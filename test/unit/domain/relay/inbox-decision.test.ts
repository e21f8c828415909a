import { describe, expect, it } from 'vitest';
import {
  afterNotifying,
  decideInboxRow,
  INBOX_STATES,
  type InboxAction,
  type InboxState,
  type StoredInboxRow,
} from '#domain/relay/inbox-decision.ts';
import type { ObservationDecision } from '#domain/relay/observation.ts';

const DECISIONS = ['advance', 'known', 'contradiction'] as const satisfies readonly ObservationDecision[];
const pending = (decision: ObservationDecision | null): StoredInboxRow => ({
  state: 'pending',
  decision,
  isOurs: true,
});

const SETTLED = ['relayed', 'applied', 'unmatched', 'quarantined', 'replayed', 'ignored'] as const;

describe('a row of the inbox', () => {
  it('waits, or has one of the states that need nothing of the relay', () => {
    expect(INBOX_STATES).toEqual(['pending', ...SETTLED]);
  });

  it.each(SETTLED)('that is %s already is left alone', (state) => {
    for (const judged of DECISIONS) {
      for (const ended of [false, true])
        expect(decideInboxRow({ state, decision: 'advance', isOurs: true }, judged, ended)).toEqual({ kind: 'leave' });
    }
  });

  it('that another relay took is left alone', () => {
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
  ])('judged %s before and %s now, of work that goes on: $kind', (stored, judged, action) => {
    expect(decideInboxRow(pending(stored), judged, false)).toEqual(action);
  });

  it('of work that has ended is judged against the end, whatever it meant before, and no workflow is notified', () => {
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
  ] as const)('whose workflow was %s (work ended: %s) is %s', (outcome, ended, next) => {
    expect(afterNotifying(outcome, ended)).toBe(next);
  });
});

/**
 * A row, what two relays hold of it, and whether any workflow was told. The attempt is `completed` once the facts are
 * stored.
 */
interface World {
  readonly row: { readonly state: InboxState; readonly decision: ObservationDecision | null; readonly tries: number };
  readonly copies: readonly [Copy | undefined, Copy | undefined];
  readonly factsStored: boolean;
  readonly told: boolean;
}

interface Copy {
  readonly tries: number;
  readonly decision: ObservationDecision | null;
  /** Set while its call to the workflow is under way. */
  readonly telling: boolean;
}

type Rule = (row: World['row'], copy: Copy, judged: ObservationDecision) => InboxAction;

const RULE: Rule = ({ state, decision, tries }, copy, judged) =>
  decideInboxRow({ state, decision, isOurs: tries === copy.tries }, judged, false);
/** As it was once: by what was taken into memory. */
const RULE_OF_MEMORY: Rule = (_row, copy, judged) =>
  decideInboxRow({ state: 'pending', decision: copy.decision, isOurs: true }, judged, false);
/** Read under the lock, but judged anew each time. */
const RULE_OF_PRESENT: Rule = ({ state, tries }, copy, judged) =>
  decideInboxRow({ state, decision: null, isOurs: tries === copy.tries }, judged, false);

/** Every next state: each relay may take (any lease may have ended), judge, or see its call arrive, or fail. */
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
        copies: holding({ tries, decision: world.row.decision, telling: false }),
      };
    } else if (copy.telling) {
      const row = world.row.state === 'pending' ? { ...world.row, state: 'relayed' as const } : world.row;
      yield { ...world, row, told: true, copies: holding(undefined) };
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
        yield { ...world, row, factsStored: true, copies: holding({ ...copy, telling: true }) };
      }
    }
  }
}

/**
 * Visits every world that can be reached. @returns how many, and one in which the row is settled and nobody was told.
 */
function explore(rule: Rule): { readonly worlds: number; readonly lost: World | undefined } {
  const start: World = {
    row: { state: 'pending', decision: null, tries: 0 },
    copies: [undefined, undefined],
    factsStored: false,
    told: false,
  };
  const seen = new Set([JSON.stringify(start)]);
  const open = [start];
  for (let world = open.pop(); world !== undefined; world = open.pop()) {
    if (world.row.state === 'applied' && !world.told && world.copies.every((copy) => copy?.telling !== true))
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
  it('never settle a row that advanced an attempt without telling its workflow', () => {
    const { worlds, lost } = explore(RULE);
    expect(lost).toBeUndefined();
    expect(worlds).toBeGreaterThan(100);
  });

  it.each([
    ['the copy in memory', RULE_OF_MEMORY],
    ['the present state alone', RULE_OF_PRESENT],
  ])('(saboteur) lose it when they go by %s', (_name, rule) => {
    expect(explore(rule).lost).toMatchObject({ row: { state: 'applied', decision: 'known' }, told: false });
  });
});
