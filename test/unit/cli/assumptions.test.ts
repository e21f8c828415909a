import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assumptionsDocument } from '#cli/service/assumptions.ts';
import { CAPABILITIES } from '#domain/service/capability-profile.ts';
import { CALL_MARKS, ENDPOINTS, EVENT_KINDS } from '#upstream/contract.ts';
import type { Variants } from '#upstream/contract/variants.ts';

const FILE = join(import.meta.dirname, '../../../upstream/contract/variants.ts');
// As entered in the file: the tests use the usual terms.
const { VARIANTS: entered }: { VARIANTS: Variants } = await import(`${FILE}?entered`);
const document = assumptionsDocument(entered);
const rowsOf = (title: string): string[] => {
  const section = document.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  return section.split('\n').filter((line) => line.startsWith('| `'));
};

describe('reseller contract assumptions', () => {
  it('has a row for each call, with its two marks, and its reason', () => {
    const rows = rowsOf('Calls');
    expect(rows).toHaveLength(Object.keys(ENDPOINTS).length);
    for (const { method, path, mark, reason } of Object.values(ENDPOINTS)) {
      const { request, response } = CALL_MARKS[mark];
      const row = rows.find((line) => line.startsWith(`| \`${method} ${path}\` | ${request} | ${response} |`));
      expect(row, `${method} ${path}`).toContain(reason);
    }
  });

  it('has a row for each event and each capability', () => {
    expect(rowsOf('Events').map((row) => row.split('`')[1])).toEqual([...EVENT_KINDS]);
    expect(rowsOf('Capabilities').map((row) => row.split('`')[1])).toEqual(Object.keys(CAPABILITIES));
  });

  it('marks a field as needed only when its absence would be contract drift', () => {
    const order = rowsOf('Fields')
      .find((row) => row.startsWith('| `POST /orders`'))
      ?.split(' | ');
    expect(order?.slice(1, 4)).toEqual(['`package_id`, `external_order_id`', '`device_imei`', '`id`, `status`']);
    const cancellation = rowsOf('Fields')
      .find((row) => row.startsWith('| `POST /esims/{id}/cancel`'))
      ?.split(' | ');
    expect(cancellation?.[3]).toBe('`esim_id`, `status`');
  });
});
