import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assumptionsDocument } from '#cli/service/assumptions.ts';
import { CAPABILITIES } from '#domain/service/capability-profile.ts';
import { ENDPOINTS, EVENT_KINDS, WEBHOOK_ANSWERS } from '#upstream/contract.ts';
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
    for (const { method, path, request, response, reason } of Object.values(ENDPOINTS)) {
      const row = rows.find((line) => line.startsWith(`| \`${method} ${path}\` | ${request} | ${response} |`));
      expect(row, `${method} ${path}`).toContain(reason);
    }
  });

  it('has a row for each event and each capability', () => {
    expect(rowsOf('Events').map((row) => row.split('`')[1])).toEqual([...EVENT_KINDS]);
    expect(rowsOf('Capabilities').map((row) => row.split('`')[1])).toEqual(Object.keys(CAPABILITIES));
  });

  it('lists our webhook answers that the specification leaves open, with the reason', () => {
    const section = document.split('## Our answers to webhooks\n')[1]?.split('\n## ')[0];
    for (const { delivery, answer, reason } of WEBHOOK_ANSWERS) {
      expect(section).toContain(`| ${delivery} | ${answer} | ${reason} |`);
    }
    expect(section).toContain('rejects duplicates');
    expect(section).toContain('300.999');
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

  it('gives the purpose of optional needed fields, and of filters', () => {
    const order = rowsOf('Fields')
      .find((row) => row.startsWith('| `GET /orders` |'))
      ?.split(' | ');
    expect(order?.[4]).toBe(
      'filter `external_order_id`: finding an order whose answer was lost; ' +
        '`data[].external_order_id`: finding an order whose answer was lost; ' +
        '`data[].esim_id`: delivering the eSIM of a completed order',
    );
    const event = rowsOf('Events')
      .find((row) => row.startsWith('| `order.completed` |'))
      ?.split(' | ');
    expect(event?.[5]).toContain('`esim_id`: delivering the eSIM of a completed order');
  });

  it('lists the assumptions about forms, lists, bounds and statuses, each with its mark and reason', () => {
    const sections = ['Forms of values', 'Lists', 'Bounds of request fields', 'Errors'];
    const rows = sections.flatMap((title) => {
      const section = document.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
      return section.split('\n').filter((line) => / \| (?:stated|shape assumed|call assumed) \| /.test(line));
    });
    expect(rows.every((row) => row.split(' | ').every((cell) => cell.replaceAll('|', '').trim() !== ''))).toBe(true);
    const forms = [
      'Times',
      'Currencies',
      'Ids',
      'ICCID',
      'Activation code',
      'limit=100',
      'End of a list',
      'environment',
    ];
    for (const what of forms) {
      expect(
        rows.some((row) => row.includes(what)),
        what,
      ).toBe(true);
    }
    const names = ['device_imei', 'external_order_id', 'expires_in_days', 'channel', '402', '403', '409', '425', '429'];
    for (const what of names) {
      expect(
        rows.some((row) => row.startsWith(`| \`${what}\``)),
        what,
      ).toBe(true);
    }
    expect(rows.find((row) => row.startsWith('| `device_imei`'))).toContain('optional; `^[0-9]{14,16}$`');
    expect(rows.find((row) => row.startsWith('| `expires_in_days`'))).toContain('1 to 3650');
    expect(rows.find((row) => row.startsWith('| `409`'))).toContain('key_or_reference_used');
  });
});
