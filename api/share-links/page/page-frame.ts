import { html, type SafeHtml } from '#api/http/html.ts';
import { bytesReply, type Reply } from '#api/http/reply.ts';
import { SHARE_PAGE_POLICY, SHARE_PAGE_STYLE } from '#api/share-links/page/page-style.ts';
import type { Message } from '#api/share-links/page/page-texts.ts';
import { PAGE_TEXTS } from '#api/share-links/page/texts-by-language.ts';
import { SHARE_LANGUAGES, shareLanguages, type ShareLanguage } from '#domain/esims/share-link.ts';

/** A page without its frame. */
export interface FramedPage {
  readonly status: number;
  readonly language: ShareLanguage;
  readonly heading: string;
  readonly content: SafeHtml;
  readonly footer?: SafeHtml;
  /** Kept by the links to other languages, such as `&show=1`. */
  readonly keptQuery?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a page with its languages. It needs no script, sets no cookie, and is neither stored nor indexed. */
export function framedPage(page: FramedPage): Reply {
  const { language, heading, content, footer, keptQuery = '' } = page;
  const languages = shareLanguages.map((each) => languageLink(each, each === language, keptQuery));
  const { text } = html`<!doctype html>
    <html lang="${language}" dir="${SHARE_LANGUAGES[language].direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="color-scheme" content="light dark" />
        <meta name="format-detection" content="telephone=no" />
        <title>${heading}</title>
        ${SHARE_PAGE_STYLE}
      </head>
      <body>
        <header>
          <nav aria-label="${PAGE_TEXTS[language].languages}">
            <ul>
              ${languages}
            </ul>
          </nav>
        </header>
        <main>
          <h1>${heading}</h1>
          ${content}
        </main>
        ${footer === undefined ? undefined : html`<footer>${footer}</footer>`}
      </body>
    </html> `;
  return bytesReply(page.status, 'text/html; charset=utf-8', text, {
    'Content-Security-Policy': SHARE_PAGE_POLICY,
    'Content-Language': language,
    'X-Robots-Tag': 'noindex, nofollow, noarchive',
    ...page.headers,
  });
}

/** A page that only says something. */
export function messagePage(
  status: number,
  language: ShareLanguage,
  { heading, text }: Message,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return framedPage({ status, language, heading, content: html`<p>${text}</p>`, headers });
}

function languageLink(language: ShareLanguage, isCurrent: boolean, keptQuery: string): SafeHtml {
  const { name } = SHARE_LANGUAGES[language];
  const current = isCurrent ? html` aria-current="true"` : undefined;
  return html`<li>
    <a href="?lang=${language}${keptQuery}" lang="${language}" hreflang="${language}" ${current}>${name}</a>
  </li>`;
}
