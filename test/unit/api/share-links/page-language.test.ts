import { describe, expect, it } from 'vitest';
import { pageLanguage } from '#api/share-links/page/visitor.ts';
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
