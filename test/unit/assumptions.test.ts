import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '#domain/capabilities.ts';
import { ENDPOINTS, EVENT_KINDS, WEBHOOK_ANSWERS } from '#upstream/contract.ts';
import { assumptionsDocument } from '#scripts/assumptions-document.ts';

const document = assumptionsDocument();
const rowsOf = (title: string): string[] => {
  const section = document.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  return section.split('\n').filter((line) => line.startsWith('| `'));
};

describe('docs/assumptions.md', () => {
  it('is what the contract says today; else run `npm run generate:assumptions`', () => {
    expect(readFileSync(join(import.meta.dirname, '../../docs/assumptions.md'), 'utf8')).toBe(document);
  });

  it('has a row for each call, with its two marks, and its reason [spec: gap.answers, gap.paths]', () => {
    const rows = rowsOf('Calls');
    expect(rows).toHaveLength(Object.keys(ENDPOINTS).length);
    for (const { method, path, request, response, reason } of Object.values(ENDPOINTS)) {
      const row = rows.find((line) => line.startsWith(`| \`${method} ${path}\` | ${request} | ${response} |`));
      expect(row, `${method} ${path}`).toContain(reason);
    }
  });

  it('has a row for each event and each capability', () => {
    expect(rowsOf('Events').map((row) => row.split('`')[1])).toEqual([...EVENT_KINDS]);
    expect(rowsOf('Capabilities').map((row) => row.split('`')[1])).toEqual(Object.keys(CAPABILITIES));
  });

  it('lists what we answer to webhooks where the specification leaves it open, with the reason', () => {
    const section = document.split('## Webhooks: what we answer\n')[1]?.split('\n## ')[0];
    for (const { delivery, answer, reason } of WEBHOOK_ANSWERS) {
      expect(section).toContain(`| ${delivery} | ${answer} | ${reason} |`);
    }
    expect(section).toContain('rejects duplicates');
    expect(section).toContain('300.999');
  });

  it('calls a field needed only where an answer without it would be contract drift', () => {
    const order = rowsOf('Fields').find((row) => row.startsWith('| `POST /orders`'))?.split(' | ');
    expect(order?.slice(1, 4)).toEqual(['`package_id`, `external_order_id`', '`device_imei`', '`id`, `status`']);
    const cancellation = rowsOf('Fields').find((row) => row.startsWith('| `POST /esims/{id}/cancel`'))?.split(' | ');
    expect(cancellation?.[3]).toBe('`esim_id`, `status`');
  });
});
