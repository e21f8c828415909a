import { createHash } from 'node:crypto';
import { qrCodeSvg } from '#api/esims/qr-code.ts';
import { html, type SafeHtml, trustedHtml } from '#api/http/html.ts';
import { bytesReply, type Reply } from '#api/http/reply.ts';
import ar from '#api/share-links/page/languages/ar.json' with { type: 'json' };
import de from '#api/share-links/page/languages/de.json' with { type: 'json' };
import en from '#api/share-links/page/languages/en.json' with { type: 'json' };
import es from '#api/share-links/page/languages/es.json' with { type: 'json' };
import fr from '#api/share-links/page/languages/fr.json' with { type: 'json' };
import it from '#api/share-links/page/languages/it.json' with { type: 'json' };
import pt from '#api/share-links/page/languages/pt.json' with { type: 'json' };
import zh from '#api/share-links/page/languages/zh.json' with { type: 'json' };
import { type Activation, installLinks, lpaString } from '#domain/esims/activation.ts';
import { type ShareLanguage, SHARE_LANGUAGES, shareLanguages } from '#domain/esims/share-link.ts';

/**
 * `preview` is for previews of messengers, with a link to the codes; `gone` for unknown, expired and revoked links
 * alike; `manual.confirmation` for a phone that asks for a confirmation code, which we do not have.
 */
type PageTexts = typeof en;

export const PAGE_TEXTS: Readonly<Record<ShareLanguage, PageTexts>> = { ar, de, en, es, fr, it, pt, zh };

/** Needs no script, sets no cookie, and is neither stored nor indexed. */
function framedPage(page: {
  readonly status: number;
  readonly language: ShareLanguage;
  readonly heading: string;
  readonly content: SafeHtml;
  readonly footer?: SafeHtml;
  /** Such as `&show=1`. */
  readonly keptQuery?: string;
  readonly headers?: Readonly<Record<string, string>>;
}): Reply {
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

export function messagePage(
  status: number,
  language: ShareLanguage,
  { heading, text }: PageTexts['gone'],
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

interface EsimPage {
  readonly language: ShareLanguage;
  readonly label: string | null;
  readonly activation: Activation;
  readonly isInstalled: boolean;
  readonly expiresAt: Date;
  /** Its installation comes first. */
  readonly phone: 'ios' | 'android' | undefined;
  readonly keptQuery: string;
}

export async function esimPage(page: EsimPage): Promise<Reply> {
  const { language, activation, isInstalled, phone, keptQuery } = page;
  const texts = PAGE_TEXTS[language];
  const qr = await qrCodeSvg(lpaString(activation));
  const steps = phone === 'android' ? [texts.android, texts.ios] : [texts.ios, texts.android];
  const content = html`${labelOf(page.label)}
    ${isInstalled ? html`<section class="notice"><p>${texts.alreadyInstalled}</p></section>` : undefined}
    ${stepsSection('before', texts.before, true)}
    <section class="screen" aria-labelledby="one-tap">
      <h2 id="one-tap">${texts.oneTap.heading}</h2>
      ${installButtons(texts, activation, phone)}
      <p class="hint">${texts.oneTap.hint}</p>
    </section>
    <section aria-labelledby="scan">
      <h2 id="scan">${texts.scan.heading}</h2>
      <div class="qr" role="img" aria-label="${texts.scan.alt}">${trustedHtml(qr)}</div>
      <p class="hint">${texts.scan.hint}</p>
    </section>
    ${manualSection(texts, activation)}
    ${steps.map((each) => stepsSection(each === texts.ios ? 'ios' : 'android', each))}
    ${stepsSection('afterwards', texts.afterwards)}`;
  const until = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  const footer = html`<p>${texts.keepPrivate}</p>
    <p>
      ${texts.availableUntil}
      <time datetime="${page.expiresAt.toISOString()}">${until.format(page.expiresAt)} UTC</time>.
    </p>`;
  return framedPage({ status: 200, language, heading: texts.heading, content, footer, keptQuery });
}

/** Contains no code: previews of a link open it. */
export function previewPage(language: ShareLanguage, label: string | null): Reply {
  const texts = PAGE_TEXTS[language];
  const content = html`${labelOf(label)}
    <p>${texts.preview.text}</p>
    <p><a class="button first" href="?lang=${language}&amp;show=1" rel="nofollow">${texts.preview.open}</a></p>`;
  return framedPage({ status: 200, language, heading: texts.heading, content });
}

function labelOf(label: string | null): SafeHtml | undefined {
  return label === null ? undefined : html`<p class="label"><bdi>${label}</bdi></p>`;
}

function installButtons({ oneTap }: PageTexts, activation: Activation, phone: EsimPage['phone']): SafeHtml[] {
  const links = installLinks(activation);
  const systems = phone === 'android' ? (['android', 'ios'] as const) : (['ios', 'android'] as const);
  return systems.map((system) => {
    const style = phone === undefined || phone === system ? 'button first' : 'button';
    return html`<a class="${style}" href="${links[system]}" rel="noopener noreferrer">${oneTap[system]}</a> `;
  });
}

function manualSection({ manual }: PageTexts, activation: Activation): SafeHtml {
  const codes = [
    [manual.smdpAddress, activation.smdpAddress],
    [manual.activationCode, activation.matchingId],
    [manual.completeCode, lpaString(activation)],
  ] as const;
  const rows = codes
    .filter(([, code]) => code !== '')
    .map(
      ([name, code]) =>
        html`<dt>${name}</dt>
          <dd><code dir="ltr">${code}</code></dd>`,
    );
  const confirmation = activation.confirmationCodeRequired ? html`<p>${manual.confirmation}</p>` : undefined;
  return html`<section aria-labelledby="manual">
    <h2 id="manual">${manual.heading}</h2>
    <dl>${rows}</dl>
    ${confirmation}
  </section>`;
}

function stepsSection(id: string, { heading, steps }: PageTexts['before'], isUnordered = false): SafeHtml {
  const items = steps.map((step) => html`<li>${step}</li>`);
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${heading}</h2>
    ${
      isUnordered
        ? html`<ul>
            ${items}
          </ul>`
        : html`<ol>
            ${items}
          </ol>`
    }
  </section> `;
}

/** Colours have a contrast of at least 4.5 to 1 in both schemes. */
const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --card: #fff; --text: #1b1d22; --soft: #565c67; --line: #d5d9e0;
  --accent: #0b57d0; --on-accent: #fff; --notice: #fff3d6; --code: #eef1f6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #121317; --card: #1d1f25; --text: #e8eaee; --soft: #b0b6c1; --line: #3a3f4a;
    --accent: #a8c7fa; --on-accent: #062e6f; --notice: #43371a; --code: #2a2d35;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
header, main, footer { max-width: 40rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 0.75rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 0.25rem; margin: 0; padding: 0; list-style: none; }
nav a { display: inline-block; padding: 0.4rem 0.5rem; border-radius: 0.4rem; color: var(--soft); }
nav a[aria-current] { background: var(--card); color: var(--text); font-weight: 600; text-decoration: none; }
h1 { margin: 1rem 0 0.5rem; font-size: 1.75rem; line-height: 1.2; }
h2 { margin: 0 0 0.5rem; font-size: 1.2rem; line-height: 1.3; }
p { margin: 0 0 0.75rem; }
.label { color: var(--soft); font-size: 1.1rem; }
section {
  margin: 1rem 0; padding: 1.1rem; border: 1px solid var(--line); border-radius: 0.9rem; background: var(--card);
}
section > :last-child { margin-bottom: 0; }
.notice { border-color: transparent; background: var(--notice); }
ol, ul { margin: 0; padding-inline-start: 1.4rem; }
li + li { margin-top: 0.35rem; }
nav li + li { margin-top: 0; }
.button {
  display: block; margin: 0 0 0.75rem; padding: 0.85rem 1rem; border: 2px solid var(--accent); border-radius: 0.7rem;
  color: var(--accent); font-weight: 600; text-align: center; text-decoration: none;
}
.button.first { background: var(--accent); color: var(--on-accent); }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.hint, footer { color: var(--soft); font-size: 0.95rem; }
footer { padding-bottom: 2rem; }
.qr { max-width: 17rem; margin: 0 auto 0.75rem; background: #fff; }
.qr svg { display: block; width: 100%; height: auto; }
dl { margin: 0; }
dt { color: var(--soft); font-size: 0.95rem; }
dd { margin: 0 0 0.75rem; }
code {
  display: block; padding: 0.6rem 0.7rem; border-radius: 0.5rem; background: var(--code); direction: ltr;
  font: 1rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; text-align: start; user-select: all;
}
@media print {
  :root { --page: #fff; --card: #fff; --text: #000; --soft: #333; --line: #999; --notice: #fff; --code: #fff; }
  nav, .screen { display: none; }
  section { margin: 0.6rem 0; padding: 0.6rem; break-inside: avoid; }
  .qr { max-width: 6cm; }
  code { padding: 0; }
}
`;

const SHARE_PAGE_STYLE = trustedHtml(`<style>${STYLE}</style>`);

/** No script, no form, and nothing of another host or of this one. */
const SHARE_PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
