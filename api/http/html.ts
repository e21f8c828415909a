/** Only {@link html} and {@link trustedHtml} make it. */
export class SafeHtml {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | SafeHtml | undefined | readonly SafeHtml[];

/** Escapes values, also inside quoted attributes. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): SafeHtml {
  return new SafeHtml(texts.map((text, place) => `${text}${render(parts[place])}`).join(''));
}

/** Never for text of a request, of the service or of the database. */
export function trustedHtml(text: string): SafeHtml {
  return new SafeHtml(text);
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof SafeHtml) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return part.map(({ text }) => text).join('');
}

/** Safe also inside quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
