/** Sentences about work that differ between kinds. A kind of work names its texts in `domain/work/kinds.ts`. */

/** Why a caller should submit the same again, or should not. */
interface ResubmissionTexts {
  /** The text while a case leaves open whether it happened. */
  readonly in_doubt: string;
  readonly done: string;
  /** Done, and ended since. */
  readonly over: string;
  readonly not_done: string;
  readonly under_way: string;
  readonly unknown: string;
  readonly waiting: string;
}

export interface KindTexts {
  /** The service works on it. */
  readonly processing: (noun: string) => string;
  /** A clause: the end of work that is held for too long. */
  readonly heldTooLong: string;
  /** A clause: the state after abandonment. */
  readonly leftBehind: string;
  readonly resubmission: ResubmissionTexts;
  /** What a verdict of an operator means for it. */
  readonly verdicts: { readonly bought: string; readonly not_bought: string };
}

/** Texts of purchases. */
export const PURCHASE_TEXTS: KindTexts = {
  processing: (noun) => `The service has accepted the ${noun} and works on it.`,
  heldTooLong: 'fails without having bought',
  leftBehind: 'nothing was bought',
  resubmission: {
    in_doubt: 'A case is open about it: it may have been bought or charged, even if its status does not show that.',
    done: 'It is bought.',
    over: 'It was bought and has ended. Another one is a new purchase.',
    not_done: 'It has ended, and nothing was bought as far as is known.',
    under_way: 'It may be bought already, or it will be bought soon.',
    unknown: 'It may have been bought or charged; that is not known yet.',
    waiting:
      'Nothing is bought so far, but this one may still be bought. A second one would be bought as well: abandon ' +
      'this one first.',
  },
  verdicts: {
    bought: 'The service sold it, and it will be delivered. Add its id at the service: `--help` names the option.',
    not_bought:
      'The service sold nothing for this attempt and keeps no money. It is bought again if a further attempt is ' +
      'allowed and fails otherwise, or ends with `--next abandon`.',
  },
};

/** Texts of cancellations of eSIMs. */
export const CANCELLATION_TEXTS: KindTexts = {
  processing: () => 'The service decides about the cancellation or its refund.',
  heldTooLong: 'is refused without having been sent',
  leftBehind: 'the eSIM is unchanged',
  resubmission: {
    in_doubt: 'A case is open about it: the eSIM may be cancelled, even if its status does not show that.',
    done: 'The eSIM is cancelled.',
    over: 'The eSIM is cancelled.',
    not_done: 'It has ended, and cancelled nothing as far as is known.',
    under_way: 'The eSIM may be cancelled already, or it will be cancelled soon.',
    unknown: 'The eSIM may be cancelled; that is not known yet.',
    waiting: 'Nothing is cancelled so far, but this one may still be carried out. Abandon it first.',
  },
  verdicts: {
    bought: 'The eSIM is cancelled at the service. Its refund is awaited.',
    not_bought: 'The eSIM is not cancelled. The cancellation is requested anew, or ends with `--next abandon`.',
  },
};
