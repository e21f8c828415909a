import { arabic } from '#api/share-links/page/languages/ar.ts';
import { german } from '#api/share-links/page/languages/de.ts';
import { english } from '#api/share-links/page/languages/en.ts';
import { spanish } from '#api/share-links/page/languages/es.ts';
import { french } from '#api/share-links/page/languages/fr.ts';
import { italian } from '#api/share-links/page/languages/it.ts';
import { portuguese } from '#api/share-links/page/languages/pt.ts';
import { chinese } from '#api/share-links/page/languages/zh.ts';
import type { PageTexts } from '#api/share-links/page/page-texts.ts';
import type { ShareLanguage } from '#domain/esims/share-link.ts';

export const PAGE_TEXTS: Readonly<Record<ShareLanguage, PageTexts>> = {
  en: english,
  de: german,
  fr: french,
  es: spanish,
  pt: portuguese,
  it: italian,
  ar: arabic,
  zh: chinese,
};
