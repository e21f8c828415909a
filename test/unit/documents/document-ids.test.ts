import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PACKAGES, VPN_PLANS } from '#simulator/catalogue.ts';
import { PROJECT } from '#test/support/compose.ts';

/** Records of decisions and of changes describe the past. */
const documents = globSync(['*.md', 'docs/**/*.md', 'clients/*/*.md'], { cwd: PROJECT }).filter(
  (file) => !file.startsWith('docs/adr/') && file !== 'CHANGELOG.md',
);
const sold = {
  package: new Set(PACKAGES.map(({ id }) => id)),
  vpn_plan: new Set(VPN_PLANS.map(({ id }) => id)),
};

/** The ids that a reader can type: in a body, an option, or a program. */
const typed = documents.flatMap((file) =>
  [
    ...readFileSync(join(PROJECT, file), 'utf8').matchAll(
      /(?:--)?\b(package|vpn[_-]plan)(?:[_-]id)?(?:"?: ?|=| )(\d+)\b/g,
    ),
  ].map(([text, kind = '', id = '']) => ({ file, text, kind: kind.replace('-', '_'), id: Number(id) })),
);

describe('the ids of packages and VPN plans in the documents', () => {
  it('exist in the simulator, so that every example works beside `npm start`', () => {
    expect(typed.length).toBeGreaterThan(15);
    const unknown = typed.filter(({ kind, id }) => !(kind === 'package' ? sold.package : sold.vpn_plan).has(id));
    expect(unknown.map(({ file, text }) => `${file}: ${text}`)).toEqual([]);
  });
});
