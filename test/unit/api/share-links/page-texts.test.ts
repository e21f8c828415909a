import { describe, expect, it } from 'vitest';
import { esimPage } from '#api/share-links/page/esim-page.ts';
import { PAGE_TEXTS } from '#api/share-links/page/texts-by-language.ts';
import { shareLanguages } from '#domain/esims/share-link.ts';

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
