import { qrCodeSvg } from '#api/esims/qr-code.ts';
import { html, trustedHtml, type SafeHtml } from '#api/http/html.ts';
import type { Reply } from '#api/http/reply.ts';
import { framedPage } from '#api/share-links/page/page-frame.ts';
import { PAGE_TEXTS, type PageTexts } from '#api/share-links/page/page-frame.ts';
import { installLinks, lpaString, type Activation } from '#domain/esims/activation.ts';
import type { ShareLanguage } from '#domain/esims/share-link.ts';

export interface EsimPage {
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
