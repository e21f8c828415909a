/** The tables of the guide "When the real document arrives", from the same data as the tests. */
import {
  ADAPTED_CASES,
  BEHAVIOUR_CASES,
  KINDS,
  MONEY_CASES,
  STYLE_CASES,
  type End,
  type ForeignCase,
} from '#test/foreign/cases.ts';
import { styleOf } from '#test/foreign/service/style.ts';

const BEGIN = '<!-- Written by `npm run generate:foreign`. -->';
const END = '<!-- End of the written part. -->';

export function withTables(guide: string): string {
  const [before, , after] = guide.split(new RegExp(`(?<=${BEGIN}\n)([^]*)(?=${END})`));
  if (before === undefined || after === undefined) throw new Error('the guide has no place for the tables');
  return `${before}\n${foreignTables()}\n\n${after}`;
}

function foreignTables(): string {
  const head = '| orders | top-ups | VPN subscriptions | cancellations |';
  const columns = '|---|---|---|---|---|';
  const row = (name: string, foreign: ForeignCase) =>
    `| ${name} | ${KINDS.map((kind) => cell(foreign.ends[kind])).join(' | ')} |`;
  return [
    `| style ${head}`,
    columns,
    ...STYLE_CASES.map((each) => row(styleOf(each.style).habit, each)),
    ...ADAPTED_CASES.map((each) => row(`${styleOf(each.style).habit}, with ${entered(each)}`, each)),
    '',
    `| behaviour ${head}`,
    columns,
    ...BEHAVIOUR_CASES.map((each) => row(each.what, each)),
    '',
    'In these cases only the money is tested: no work has two debits without a credit.',
    '',
    ...MONEY_CASES.map(({ what }) => `- ${what}`),
  ].join('\n');
}

function cell(end: End | undefined): string {
  if (end === undefined) return '–';
  if (end === 'works') return 'works';
  if (end === 'refused') return 'refused before the send';
  if ('beside' in end) return `works, case \`${end.beside}\``;
  if ('case' in end) return `sent once, case \`${end.case}\``;
  return 'held' in end ? `held: \`${end.held}\`` : `one paid canary, case \`${end.canary}\``;
}

function entered({ adapted = {} }: ForeignCase): string {
  return Object.keys(adapted)
    .map((name) => `\`${name}\``)
    .join(' and ');
}
