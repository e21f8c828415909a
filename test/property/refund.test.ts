import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObservedOutcome } from '#domain/observation.ts';
import {
  cancellationOutcome,
  isCancelled,
  judgeRefund,
  REFUND_DECISIONS,
  REFUND_REVIEWS,
  REFUND_STATES,
  refundStatusOf,
  together,
  type CancellationWord,
  type RefundWord,
} from '#domain/refund.ts';

const refundWord: fc.Arbitrary<RefundWord> = fc.record({
  state: fc.constantFrom(...REFUND_STATES),
  review: fc.option(fc.constantFrom(...REFUND_REVIEWS), { nil: undefined }),
});
const word: fc.Arbitrary<CancellationWord> = fc.record({
  esim: fc.constantFrom('processing', 'cancelled', 'refused', undefined),
  refund: fc.option(refundWord, { nil: undefined }),
});

/** What the service can truthfully say one after the other of one cancellation, in pieces. */
const STORIES: Readonly<Record<string, { readonly words: readonly CancellationWord[]; readonly end: ObservedOutcome }>> = {
  'cancelled and paid': {
    words: [{ esim: 'cancelled' }, { refund: { state: 'processing', review: 'accepted' } }, { refund: { state: 'completed', review: 'accepted' } }],
    end: 'completed',
  },
  'reviewed, then paid': {
    words: [{ esim: 'processing', refund: { state: 'processing', review: 'manual_review' } }, { esim: 'cancelled' }, { refund: { state: 'completed' } }],
    end: 'completed',
  },
  'cancelled, and the refund failed': { words: [{ esim: 'cancelled' }, { refund: { state: 'failed' } }], end: 'completed' },
  'refused in review': { words: [{ refund: { state: 'processing', review: 'manual_review' } }, { refund: { state: 'failed', review: 'refused' } }], end: 'failed' },
  'refused at once': { words: [{ esim: 'refused' }], end: 'failed' },
};

describe('a word about a cancellation', () => {
  it.each(Object.entries(STORIES))('%s comes to the same, in whatever order and however often its parts come', (_name, { words, end }) => {
    const shuffled = fc.shuffledSubarray([...words, ...words], { minLength: words.length });
    fc.assert(
      fc.property(shuffled, (order) => {
        fc.pre(words.every((each) => order.includes(each)));
        expect(cancellationOutcome(order.reduce(together, {}))).toBe(end);
      }),
    );
  });

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
      for (const state of REFUND_STATES) expect(['advance', 'known', 'contradiction']).toContain(REFUND_DECISIONS[known][state]);
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
