import ar from '#api/share-links/page/languages/ar.json' with { type: 'json' };
import de from '#api/share-links/page/languages/de.json' with { type: 'json' };
import en from '#api/share-links/page/languages/en.json' with { type: 'json' };
import es from '#api/share-links/page/languages/es.json' with { type: 'json' };
import fr from '#api/share-links/page/languages/fr.json' with { type: 'json' };
import it from '#api/share-links/page/languages/it.json' with { type: 'json' };
import pt from '#api/share-links/page/languages/pt.json' with { type: 'json' };
import zh from '#api/share-links/page/languages/zh.json' with { type: 'json' };
import type { ShareLanguage } from '#domain/esims/share-link.ts';

/**
 * `preview` is for previews of messengers, with a link to the codes; `gone` for unknown, expired and revoked links
 * alike; `manual.confirmation` for a phone that asks for a confirmation code, which we do not have.
 */
export type PageTexts = typeof en;

export const PAGE_TEXTS: Readonly<Record<ShareLanguage, PageTexts>> = { ar, de, en, es, fr, it, pt, zh };
