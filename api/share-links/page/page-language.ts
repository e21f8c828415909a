import * as z from 'zod';
import { shareLanguages, type ShareLanguage } from '#domain/esims/share-link.ts';

/** The part of a request that chooses the language. */
export interface LanguageRequest {
  readonly query: unknown;
  readonly header: (name: string) => string | undefined;
}

const chosen = z.looseObject({ lang: z.enum(shareLanguages) });
/** More than browsers send. */
const MAX_RANGES = 20;

/**
 * The language of a page: the customer's choice (`?lang=`), the language of the link, the best one of the browser
 * (`Accept-Language`, RFC 9110, section 12.5.4), or English.
 */
export function pageLanguage({ query, header }: LanguageRequest, ofLink?: ShareLanguage | null): ShareLanguage {
  const own = chosen.safeParse(query).data?.lang;
  return own ?? ofLink ?? preferredLanguage(header('Accept-Language')) ?? 'en';
}

/** The language with the highest quality; of equal ones the first. A region or script does not matter. */
function preferredLanguage(accepted = ''): ShareLanguage | undefined {
  const ranges = accepted
    .split(',', MAX_RANGES)
    .flatMap((range) => {
      const [, name = '', quality = '1'] =
        /^\s*([a-z]{2,3})(?:-[a-z0-9-]+)?\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/i.exec(range) ?? [];
      const language = shareLanguages.find((each) => each === name.toLowerCase());
      return language === undefined || Number(quality) === 0 ? [] : [{ language, quality: Number(quality) }];
    })
    .toSorted((left, right) => right.quality - left.quality);
  return ranges[0]?.language;
}
