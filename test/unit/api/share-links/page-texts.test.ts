import { describe, expect, it } from 'vitest';
import { esimPage, PAGE_TEXTS } from '#api/share-links/page/esim-page.ts';
import { pageLanguage } from '#api/share-links/share-page.ts';
import { shareLanguages } from '#domain/esims/share-link.ts';

const language = (accepted: string | undefined, query: unknown = {}, ofLink: 'de' | null = null) =>
  pageLanguage({ query, header: () => accepted }, ofLink);

describe('the language of a page', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['*', 'en'],
    ['nl, ja', 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['zh-Hant-TW, en;q=0.5', 'zh'],
    ['en;q=0.5, ar;q=0.9', 'ar'],
    ['fr;q=0.7,es;q=0.7', 'fr'],
    ['de;q=0, it;q=0.1', 'it'],
    ['pt-BR , en ; q=0.8', 'pt'],
    ['de;q=2, fr', 'fr'],
    ['deutsch, es', 'es'],
    [`${'xx,'.repeat(5_000)}de`, 'en'],
  ])('is the best one that the browser accepts (%#: %s)', (accepted, expected) => {
    expect(language(accepted)).toBe(expected);
  });

  it('is that of the link before that of the browser, and the choice of the customer before both', () => {
    expect(language('fr', {}, 'de')).toBe('de');
    for (const lang of shareLanguages) expect(language('fr', { lang }, 'de')).toBe(lang);
    for (const lang of ['xx', '', ['ar', 'es'], { en: 1 }]) expect(language('fr', { lang }, 'de')).toBe('de');
  });
});

/** All texts, by their place. */
function textsOf(value: unknown, place = ''): Map<string, string> {
  if (typeof value === 'string') return new Map([[place, value]]);
  return new Map(Object.entries(value as object).flatMap(([name, part]) => [...textsOf(part, `${place}.${name}`)]));
}

const english = textsOf(PAGE_TEXTS.en);
/** Words that are spelled the same in two languages. */
const EQUAL = new Set(['.manual.smdpAddress']);

describe.each(shareLanguages.filter((each) => each !== 'en'))('the texts in %s', (language) => {
  const texts = textsOf(PAGE_TEXTS[language]);

  it('are complete, with as many steps as in English', () => {
    expect([...texts.keys()]).toEqual([...english.keys()]);
    expect([...texts.values()].filter((text) => text.trim() === '')).toEqual([]);
  });

  it('are translated', () => {
    const same = [...texts].filter(([place, text]) => text === english.get(place) && !EQUAL.has(place));
    expect(same).toEqual([]);
  });

  it('are all on the page of an eSIM', async () => {
    const { body } = await esimPage({
      language,
      label: null,
      activation: { smdpAddress: 'smdp.example.com', matchingId: 'A1', confirmationCodeRequired: true },
      isInstalled: true,
      expiresAt: new Date('2030-01-31T12:00:00Z'),
      phone: undefined,
      keptQuery: '',
    });
    const page = body.toString('utf8').replaceAll('&amp;', '&').replaceAll('&#39;', "'");
    const elsewhere = /^\.(?:preview|cancelled|expired|gone|tooMany|unavailable)\b/;
    const missing = [...texts].filter(([place, text]) => !elsewhere.test(place) && !page.includes(text));
    expect(missing).toEqual([]);
  });
});
