export interface Message {
  readonly heading: string;
  readonly text: string;
}

export interface Steps {
  readonly heading: string;
  readonly steps: readonly string[];
}

export interface PageTexts {
  readonly heading: string;
  readonly languages: string;
  readonly alreadyInstalled: string;
  readonly before: Steps;
  readonly oneTap: { readonly heading: string; readonly ios: string; readonly android: string; readonly hint: string };
  readonly scan: { readonly heading: string; readonly alt: string; readonly hint: string };
  readonly manual: {
    readonly heading: string;
    readonly smdpAddress: string;
    readonly activationCode: string;
    readonly completeCode: string;
    /** Shown when the phone asks for a confirmation code, which we do not have. */
    readonly confirmation: string;
  };
  readonly ios: Steps;
  readonly android: Steps;
  readonly afterwards: Steps;
  readonly availableUntil: string;
  readonly keepPrivate: string;
  /** For previews of messengers, with a link to the codes. */
  readonly preview: { readonly text: string; readonly open: string };
  readonly cancelled: Message;
  readonly expired: Message;
  /** For unknown, expired and revoked links alike. */
  readonly gone: Message;
  readonly tooMany: Message;
  readonly unavailable: Message;
}
