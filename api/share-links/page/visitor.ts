/** What the headers of a visitor tell. They choose what is shown first, and never grant anything. */
import type { Incoming } from '#api/http/operation.ts';

type Headers = Pick<Incoming, 'header'>;

/**
 * Fetchers that show a preview of a link in a chat or a feed, by their own names for themselves. Not every name with
 * "bot" in it: there are phones with such names.
 */
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

/** True for a request that no person makes: a preview, a search engine, or a browser that loads pages in advance. */
export function isPreview({ header }: Headers): boolean {
  const purpose = [header('Sec-Purpose'), header('Purpose'), header('X-Moz'), header('X-Purpose')].join(' ');
  return /\b(?:prefetch|preview)\b/i.test(purpose) || PREVIEWS.test(header('User-Agent') ?? '');
}

/** The system of the phone, if the request comes from one. */
export function phoneOf({ header }: Headers): 'ios' | 'android' | undefined {
  const agent = header('User-Agent') ?? '';
  if (/\b(?:iPhone|iPad)\b/.test(agent)) return 'ios';
  return /\bAndroid\b/.test(agent) ? 'android' : undefined;
}
