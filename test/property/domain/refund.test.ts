import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cancellationOutcome,
  isCancelled,
  judgeRefund,
  REFUND_DECISIONS,
  REFUND_REVIEWS,
  REFUND_STATES,
  REFUND_STATUSES,
  refundOfCredit,
  refundStatusOf,
  together,
  type CancellationWord,
  type RefundOfOrder,
  type RefundStatus,
  type RefundWord,
} from '#domain/cancellation/refund.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';

const refundWord: fc.Arbitrary<RefundWord> = fc.record({
  state: fc.constantFrom(...REFUND_STATES),
  review: fc.option(fc.constantFrom(...REFUND_REVIEWS), { nil: undefined }),
});
const word: fc.Arbitrary<CancellationWord> = fc.record({
  esim: fc.constantFrom('processing', 'cancelled', 'refused', undefined),
  refund: fc.option(refundWord, { nil: undefined }),
});

/** What the service can truthfully say one after the other of one cancellation, in pieces. */
const STORIES: Readonly<
  Record<string, { readonly words: readonly CancellationWord[]; readonly end: ObservedOutcome }>
> = {
  'cancelled and paid': {
    words: [
      { esim: 'cancelled' },
      { refund: { state: 'processing', review: 'accepted' } },
      { refund: { state: 'completed', review: 'accepted' } },
    ],
    end: 'completed',
  },
  'reviewed, then paid': {
    words: [
      { esim: 'processing', refund: { state: 'processing', review: 'manual_review' } },
      { esim: 'cancelled' },
      { refund: { state: 'completed' } },
    ],
    end: 'completed',
  },
  'cancelled, and the refund failed': {
    words: [{ esim: 'cancelled' }, { refund: { state: 'failed' } }],
    end: 'completed',
  },
  'refused in review': {
    words: [
      { refund: { state: 'processing', review: 'manual_review' } },
      { refund: { state: 'failed', review: 'refused' } },
    ],
    end: 'failed',
  },
  'refused at once': { words: [{ esim: 'refused' }], end: 'failed' },
};

describe('a word about a cancellation', () => {
  it.each(Object.entries(STORIES))(
    '%s comes to the same, in whatever order and however often its parts come',
    (_name, { words, end }) => {
      const shuffled = fc.shuffledSubarray([...words, ...words], { minLength: words.length });
      fc.assert(
        fc.property(shuffled, (order) => {
          fc.pre(words.every((each) => order.includes(each)));
          expect(cancellationOutcome(order.reduce(together, {}))).toBe(end);
        }),
      );
    },
  );

  it('that the eSIM is cancelled is never the refusal of its cancellation', () => {
    fc.assert(
      fc.property(word, (said) => {
        fc.pre(isCancelled(said) && said.esim !== 'refused');
        expect(cancellationOutcome(said)).not.toBe('failed');
      }),
    );
  });

  it('of a refund is decided for every pair of what is known and what is said, and what was paid stays paid', () => {
    for (const known of ['unheard', ...REFUND_STATES] as const) {
      for (const state of REFUND_STATES)
        expect(['advance', 'known', 'contradiction']).toContain(REFUND_DECISIONS[known][state]);
    }
    fc.assert(
      fc.property(fc.option(refundWord, { nil: undefined }), refundWord, (known, said) => {
        const takesBack = known?.state === 'completed' && said.state === 'failed';
        expect(judgeRefund(known, said) === 'contradiction').toBe(takesBack);
        // The same word twice is no news the second time.
        expect(judgeRefund(said, said)).toBe('known');
      }),
    );
  });

  it('shows no refund as completed before its money was found', () => {
    fc.assert(
      fc.property(refundWord, (said) => {
        expect(refundStatusOf(said)).not.toBe('completed');
      }),
    );
  });
});

describe('the words', () => {
  it('are those of the specification, and those that our API shows', () => {
    expect(REFUND_STATES).toEqual(['processing', 'completed', 'failed']);
    expect(REFUND_REVIEWS).toEqual(['accepted', 'refused', 'manual_review']);
    expect(REFUND_STATUSES).toEqual(['expected', 'manual_review', 'completed', 'failed', 'needs_attention']);
  });

  it.each<[CancellationWord, ObservedOutcome]>([
    [{}, 'processing'],
    [{ esim: 'processing' }, 'processing'],
    [{ esim: 'cancelled' }, 'processing'],
    [{ esim: 'refused' }, 'failed'],
    [{ esim: 'refused', refund: { state: 'completed', review: 'accepted' } }, 'failed'],
    [{ refund: { state: 'processing', review: 'accepted' } }, 'processing'],
    [{ refund: { state: 'processing', review: 'refused' } }, 'processing'],
    [{ esim: 'cancelled', refund: { state: 'processing', review: 'accepted' } }, 'processing'],
    [{ refund: { state: 'completed' } }, 'completed'],
    [{ refund: { state: 'failed', review: 'accepted' } }, 'completed'],
    [{ esim: 'cancelled', refund: { state: 'failed', review: 'refused' } }, 'completed'],
    [{ refund: { state: 'failed', review: 'refused' } }, 'failed'],
    [{ refund: { state: 'failed', review: 'manual_review' } }, 'processing'],
    [{ esim: 'processing', refund: { state: 'failed' } }, 'processing'],
  ])('%j come to %s [spec: state.refund.completed, state.review.accepted, state.review.refused]', (said, outcome) => {
    expect(cancellationOutcome(said)).toBe(outcome);
  });

  it.each<[CancellationWord, boolean]>([
    [{}, false],
    [{ esim: 'cancelled' }, true],
    [{ esim: 'processing' }, false],
    [{ esim: 'refused' }, false],
    [{ esim: 'processing', refund: { state: 'completed' } }, true],
    [{ refund: { state: 'completed', review: 'refused' } }, true],
    [{ refund: { state: 'processing', review: 'accepted' } }, true],
    [{ esim: 'processing', refund: { state: 'processing', review: 'accepted' } }, false],
    [{ refund: { state: 'processing' } }, false],
    [{ refund: { state: 'failed', review: 'refused' } }, false],
  ])('%j say that the eSIM is cancelled: %s', (said, cancelled) => {
    expect(isCancelled(said)).toBe(cancelled);
  });

  it.each<[RefundWord | undefined, RefundWord | undefined, ReturnType<typeof judgeRefund>]>([
    [undefined, undefined, 'known'],
    [{ state: 'processing' }, undefined, 'known'],
    [undefined, { state: 'processing' }, 'advance'],
    [{ state: 'processing' }, { state: 'processing' }, 'known'],
    [{ state: 'processing' }, { state: 'processing', review: 'manual_review' }, 'advance'],
    [{ state: 'processing', review: 'manual_review' }, { state: 'processing' }, 'known'],
    [{ state: 'processing', review: 'manual_review' }, { state: 'processing', review: 'accepted' }, 'advance'],
    [{ state: 'completed' }, { state: 'completed', review: 'accepted' }, 'advance'],
    [{ state: 'completed' }, { state: 'processing', review: 'accepted' }, 'known'],
    [{ state: 'completed' }, { state: 'failed', review: 'refused' }, 'contradiction'],
    [{ state: 'failed' }, { state: 'completed' }, 'advance'],
  ])('%j and then %j are judged as %s', (known, told, decision) => {
    expect(judgeRefund(known, told)).toBe(decision);
  });

  it.each<[CancellationWord, CancellationWord, CancellationWord]>([
    [{}, {}, {}],
    [{ esim: 'processing' }, {}, { esim: 'processing' }],
    [{ esim: 'processing' }, { esim: 'cancelled' }, { esim: 'cancelled' }],
    [{ esim: 'cancelled' }, { esim: 'processing' }, { esim: 'cancelled' }],
    [{ esim: 'processing' }, { esim: 'refused' }, { esim: 'refused' }],
    [{ refund: { state: 'completed' } }, {}, { refund: { state: 'completed' } }],
    [
      { refund: { state: 'completed' } },
      { refund: { state: 'processing', review: 'accepted' } },
      { refund: { state: 'completed' } },
    ],
    [
      { refund: { state: 'processing', review: 'manual_review' } },
      { refund: { state: 'completed' } },
      { refund: { state: 'completed', review: 'manual_review' } },
    ],
    [
      { refund: { state: 'processing', review: 'manual_review' } },
      { refund: { state: 'failed', review: 'refused' } },
      { refund: { state: 'failed', review: 'refused' } },
    ],
  ])('%j and then %j are together %j, and nothing else', (known, told, word) => {
    expect(together(known, told)).toStrictEqual(word);
  });

  it.each<[RefundWord, RefundStatus]>([
    [{ state: 'processing' }, 'expected'],
    [{ state: 'processing', review: 'accepted' }, 'expected'],
    [{ state: 'processing', review: 'manual_review' }, 'manual_review'],
    [{ state: 'completed', review: 'manual_review' }, 'expected'],
    [{ state: 'completed' }, 'expected'],
    [{ state: 'failed' }, 'failed'],
    [{ state: 'failed', review: 'manual_review' }, 'failed'],
  ])('%j are shown as %s [spec: state.refund.failed, state.review.manual_review]', (said, status) => {
    expect(refundStatusOf(said)).toBe(status);
  });
});

describe('the refund that a credit of the wallet is', () => {
  const money = { amount: '2.40', currency: 'USD' };
  const inForce: RefundOfOrder = { serviceRefundId: 'r_2', told: money, isInForce: true };
  const refused: RefundOfOrder = { serviceRefundId: 'r_1', told: money, isInForce: false };
  const isOf = (refunds: readonly RefundOfOrder[], refundId: string | null) =>
    refundOfCredit(refunds, { refundId, money });

  it('is the one that the service names, in force or not', () => {
    expect(isOf([refused, inForce], 'r_2')).toBe(inForce);
    expect(isOf([inForce, refused], 'r_1')).toBe(refused);
  });

  it('is of the cancellation that is in force where none is named, else the first of what is left', () => {
    expect(isOf([refused, inForce], null)).toBe(inForce);
    expect(isOf([refused], null)).toBe(refused);
    expect(isOf([], null)).toBeUndefined();
  });

  it('is one whose id is not known yet where another is named', () => {
    const unheard = { ...inForce, serviceRefundId: null };
    expect(isOf([refused, unheard], 'r_2')).toBe(unheard);
    expect(isOf([unheard], null)).toBe(unheard);
    expect(isOf([refused], 'r_2')).toBeUndefined();
  });

  it('is never one of another amount, or of none', () => {
    for (const told of [undefined, { ...money, amount: '2.41' }, { ...money, currency: 'EUR' }]) {
      for (const refundId of ['r_2', null]) expect(isOf([{ ...inForce, told }], refundId)).toBeUndefined();
    }
    expect(isOf([{ ...inForce, told: { ...money, amount: '2.4' } }], 'r_2')).toBeDefined();
  });
});
