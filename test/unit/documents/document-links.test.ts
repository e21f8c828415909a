import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GUIDES } from '#api/site/guides.ts';
import { PROJECT } from '#test/support/compose.ts';

const documents = globSync(['*.md', 'docs/**/*.md', 'clients/*/*.md', 'simulator/*.md'], { cwd: PROJECT });

/** The anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Where `npm start` serves the pages of the documentation site. */
const SITE = 'http://127.0.0.1:3000/docs/guides/';

function problemWith(document: string, target: string): string | undefined {
  if (target.startsWith(SITE))
    return GUIDES.some(({ name }) => target === SITE + name) ? undefined : `${target}: no such page of /docs`;
  if (/^https?:/.test(target)) return undefined;
  const [path = '', anchor] = target.split('#', 2);
  const file = path === '' ? document : join(dirname(document), path);
  if (!existsSync(join(PROJECT, file))) return `${target}: no such file`;
  if (anchor === undefined) return undefined;
  const headings = [...readFileSync(join(PROJECT, file), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    anchorOf(text),
  );
  return headings.includes(anchor) ? undefined : `${target}: no such heading`;
}

describe('the documents', () => {
  it.each(documents)('%s links to existing files, headings and pages of /docs', (document) => {
    const text = readFileSync(join(PROJECT, document), 'utf8').replaceAll(/^```[^]*?^```/gm, '');
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);

    expect(targets.flatMap((target) => problemWith(document, target) ?? [])).toEqual([]);
  });

  it('are all in the index', () => {
    const index = readFileSync(join(PROJECT, 'docs/README.md'), 'utf8');
    const missing = documents
      .filter(
        (document) =>
          document.startsWith('docs/') && !document.startsWith('docs/adr/') && document !== 'docs/README.md',
      )
      .filter((document) => !index.includes(`](${document.replace(/^docs\//, '')})`));

    expect(missing).toEqual([]);
  });
});
