import * as z from 'zod';
import type { Incoming } from '#api/http/operation.ts';
import { type ShareLanguage, shareLanguages } from '#domain/esims/share-link.ts';

/** They choose what is shown first, and never grant anything. */

type Headers = Pick<Incoming, 'header'>;

/** By their own names for themselves. Not every name with "bot" in it: there are phones with such names. */
const PREVIEWS = new RegExp(
  [
    'facebookexternalhit',
    'facebookcatalog',
    'meta-externalfetcher',
    'WhatsApp/',
    'Twitterbot',
    'TelegramBot',
    'Slackbot',
    'Slack-ImgProxy',
    'Discordbot',
    'LinkedInBot',
    'SkypeUriPreview',
    'MicrosoftPreview',
    'Snap URL Preview',
    'Viber',
    'Iframely',
    'redditbot',
    'Pinterestbot',
    'vkShare',
    'Googlebot',
    'Google-PageRenderer',
    'GoogleOther',
    'bingbot',
    'BingPreview',
    'Applebot',
    'YandexBot',
    'Baiduspider',
    'DuckDuckBot',
    'Mastodon/',
  ].join('|'),
  'i',
);

/** A preview, a search engine, or a browser that loads pages in advance. */
export function isPreview({ header }: Headers): boolean {
  const purpose = [header('Sec-Purpose'), header('Purpose'), header('X-Moz'), header('X-Purpose')].join(' ');
  return /\b(?:prefetch|preview)\b/i.test(purpose) || PREVIEWS.test(header('User-Agent') ?? '');
}

export function phoneOf({ header }: Headers): 'ios' | 'android' | undefined {
  const agent = header('User-Agent') ?? '';
  if (/\b(?:iPhone|iPad)\b/.test(agent)) return 'ios';
  return /\bAndroid\b/.test(agent) ? 'android' : undefined;
}

export type LanguageRequest = Pick<Incoming, 'query' | 'header'>;

const chosen = z.looseObject({ lang: z.enum(shareLanguages) });
/** More than browsers send. */
const MAX_RANGES = 20;

/** The customer's choice (`?lang=`), the language of the link, `Accept-Language` (RFC 9110, 12.5.4), or English. */
export function pageLanguage({ query, header }: LanguageRequest, ofLink?: ShareLanguage | null): ShareLanguage {
  const own = chosen.safeParse(query).data?.lang;
  return own ?? ofLink ?? preferredLanguage(header('Accept-Language')) ?? 'en';
}

/** Of languages with equal quality the first. A region or script does not matter. */
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
