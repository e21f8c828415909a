import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { storedActivation } from '#api/esims/delivered-esim.ts';
import { type DocumentedAnswer, type Incoming, type Operation, publicOperation } from '#api/http/operation.ts';
import { type Reply, bytesReply } from '#api/http/reply.ts';
import { databaseUnavailable } from '#api/problems/error-handler.ts';
import type { Problem } from '#api/problems/problem.ts';
import { esimPage, messagePage, PAGE_TEXTS, previewPage } from '#api/share-links/page/esim-page.ts';
import { SHARE_EXAMPLE_SECRET } from '#api/share-links/share-links.ts';
import { hashSecret } from '#crypto/generated-secrets.ts';
import { type ShareLanguage, shareLanguages } from '#domain/esims/share-link.ts';
import { findOpenShareLink, readSharedView, recordShareLinkView } from '#fulfilment/share-links/share-links.ts';

const params = z.strictObject({
  secret: z.string().meta({ description: 'The secret of the link.', example: SHARE_EXAMPLE_SECRET }),
});

const page = (description: string, headers: DocumentedAnswer['headers'] = {}): DocumentedAnswer => ({
  description,
  contentType: 'text/html',
  headers,
});

export function sharePageOperations(dependencies: ApiDependencies): Operation[] {
  const { closedBecause } = dependencies;
  return [
    publicOperation('GET /e/{secret}', {
      id: 'getSharePage',
      summary: 'The page of a share link, for your customer',
      description:
        'HTML in the language of `lang`, of the link, or of `Accept-Language`. Each view is counted and written to ' +
        'the audit log. Previews by messengers get a page without codes, which is not counted.',
      params,
      answers: {
        200: page('How to install the eSIM; or that it was cancelled or has expired.'),
        404: page('The link does not exist, has expired or was revoked: the same page for all of them.'),
        429: page('Too many requests from this address.', { 'Retry-After': 'Seconds.' }),
        500: page('Something failed.'),
        503: page('The database does not answer.', { 'Retry-After': 'Seconds.' }),
      },
      visitorPage: problemPage,
      handle: async (incoming) => {
        const reason = closedBecause();
        if (reason !== undefined) throw databaseUnavailable(new Error(reason));
        return (await sharedPage(dependencies, incoming)) ?? gonePage(incoming);
      },
    }),
    publicOperation('GET /robots.txt', {
      id: 'getRobots',
      summary: 'Asks search engines to read nothing',
      description: 'Pages of share links are for their holders, and the other pages for integrators.',
      answers: { 200: { description: 'The rules (RFC 9309).', contentType: 'text/plain' } },
      handle: async () => bytesReply(200, 'text/plain; charset=utf-8', 'User-agent: *\nDisallow: /\n'),
    }),
  ];
}

/** @returns undefined when no open link has this secret. */
async function sharedPage(dependencies: ApiDependencies, incoming: Incoming): Promise<Reply | undefined> {
  const { database, now } = dependencies;
  const { secret } = params.parse(incoming.params);
  const found = await database.run((db) => findOpenShareLink(db, hashSecret(secret), new Date(now())));
  if (found === undefined) return undefined;
  const language = pageLanguage(incoming, found.link.language);
  const isShown = shown.safeParse(incoming.query).success;
  if (incoming.isHead || (isPreview(incoming) && !isShown)) return previewPage(language, found.link.label);

  const { isOpen, view } = await database.transaction(async (tx) => ({
    isOpen: await recordShareLinkView(tx, found, new Date(now())),
    view: await readSharedView(tx, found.esim, new Date(now())),
  }));
  if (!isOpen) return undefined;
  if (view === 'cancelled' || view === 'expired') return messagePage(200, language, PAGE_TEXTS[language][view]);
  return esimPage({
    language,
    label: found.link.label,
    activation: storedActivation(dependencies.keyRing, found.esim),
    isInstalled: view === 'installed',
    expiresAt: found.link.expiresAt,
    phone: phoneOf(incoming),
    keptQuery: isShown ? '&show=1' : '',
  });
}

/** The same for unknown, expired and revoked links: it must not tell which secrets have existed. */
function gonePage(request: LanguageRequest): Reply {
  const language = pageLanguage(request);
  return messagePage(404, language, PAGE_TEXTS[language].gone);
}

/** People cannot read problem+json. */
function problemPage({ status, headers }: Problem, request: LanguageRequest): Reply {
  const language = pageLanguage(request);
  const { tooMany, unavailable } = PAGE_TEXTS[language];
  return messagePage(status, language, status === 429 ? tooMany : unavailable, headers);
}

/** By their own names for themselves. Not every name with "bot" in it: there are phones with such names. */
const PREVIEWS = new RegExp(
  'facebookexternalhit|facebookcatalog|meta-externalfetcher|WhatsApp/|Twitterbot|TelegramBot|Slackbot|' +
    'Slack-ImgProxy|Discordbot|LinkedInBot|SkypeUriPreview|MicrosoftPreview|Snap URL Preview|Viber|Iframely|' +
    'redditbot|Pinterestbot|vkShare|Googlebot|Google-PageRenderer|GoogleOther|bingbot|BingPreview|Applebot|' +
    'YandexBot|Baiduspider|DuckDuckBot|Mastodon/',
  'i',
);

/** A preview, a search engine, or a browser that loads pages in advance. A header never grants anything. */
function isPreview({ header }: Pick<Incoming, 'header'>): boolean {
  const purpose = [header('Sec-Purpose'), header('Purpose'), header('X-Moz'), header('X-Purpose')].join(' ');
  return /\b(?:prefetch|preview)\b/i.test(purpose) || PREVIEWS.test(header('User-Agent') ?? '');
}

function phoneOf({ header }: Pick<Incoming, 'header'>): 'ios' | 'android' | undefined {
  const agent = header('User-Agent') ?? '';
  if (/\b(?:iPhone|iPad)\b/.test(agent)) return 'ios';
  return /\bAndroid\b/.test(agent) ? 'android' : undefined;
}

type LanguageRequest = Pick<Incoming, 'query' | 'header'>;

const shown = z.looseObject({ show: z.literal('1') });
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
