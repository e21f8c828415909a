/** Texts of the service that we keep and show. They may contain control characters, and repeat what was sent. */

const MOST_CHARACTERS = 300;
/** More is not looked at. */
const MOST_READ = 2_000;
/** Control, format and separating characters, lone surrogates. */
const UNPRINTABLE = /[\p{C}\p{Z}]+/gu;
/** E-mail addresses, and numbers as long as an IMEI, an ICCID or a telephone number, but no times. */
const PERSONAL = /[^\s@"'<>(),;:]+@[^\s@"'<>(),;:]+|(?<!\d)(?!(?:19|20)\d\d-\d\d-\d\d)\+?\d(?:[ ().-]?\d){9,}/g;
/** A shorter text occurs in others by chance. */
const LEAST_SENT = 3;

/**
 * Removes e-mail addresses, long numbers and what we sent: these may be personal.
 * @param sent values of the request that the text may repeat. @returns undefined when nothing is left.
 */
export function foreignText(text: string | null | undefined, sent: readonly string[] = []): string | undefined {
  if (text === null || text === undefined) return undefined;
  const read = onOneLine(text.slice(0, MOST_READ));
  // The longest first: one value may be part of another.
  const hidden = sent.map(onOneLine).filter((value) => value.length >= LEAST_SENT);
  const known = hidden
    .toSorted((a, b) => b.length - a.length)
    .reduce((left, value) => left.replaceAll(new RegExp(escaped(value), 'giu'), '[…]'), read)
    .replaceAll(PERSONAL, '[…]');
  const characters = Array.from(known);
  if (characters.length === 0) return undefined;
  return characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…` : known;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function onOneLine(text: string): string {
  return text.replaceAll(UNPRINTABLE, ' ').trim();
}

/** The quote is about one purchase, and others see the sentence. */
export function withoutQuote(sentence: string): string {
  return sentence.replace(/: “[^”]*”$/, '.');
}

export function quoted(text: string): string {
  return `“${text.replaceAll(/[“”]/g, '"')}”`;
}

export interface ServiceReason {
  readonly code?: string;
  readonly message: string;
}

interface StoredReason {
  readonly failureDetail: string;
  readonly serviceMessage?: string | undefined;
}

/** @param codeOnly for a request with personal data, which the message may repeat. */
export function storedReason(reason: ServiceReason | null | undefined, codeOnly = false): StoredReason {
  if (reason === null || reason === undefined) return { failureDetail: 'The service gave no reason.' };
  const message = codeOnly ? undefined : foreignText(reason.message);
  const said = message === undefined ? '.' : `: ${quoted(message)}`;
  const code = foreignText(reason.code) ?? (message === undefined ? 'no code' : 'a failure');
  return {
    failureDetail: `The service reports ${code}${said}`,
    serviceMessage: message,
  };
}

export function refusedCancellation(unmet: readonly string[]): StoredReason {
  const named = unmet.length === 0 ? undefined : foreignText(unmet.join(', '));
  const said = named === undefined ? '.' : `; not met: ${named}.`;
  return { failureDetail: `The service refuses to cancel the eSIM${said}`, serviceMessage: named };
}
