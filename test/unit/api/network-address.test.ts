import { describe, expect, it } from 'vitest';
import { networkOf } from '#api/access/limits.ts';

describe('the network of a limit', () => {
  it.each([
    [
      '203.0.113.7',
      [
        '203.0.113.7',
        '::ffff:203.0.113.7',
        '::FFFF:cb00:7107',
        '203.000.113.007',
        '203.0.113.7:4711',
        '0:0:0:0:0:ffff:203.0.113.7',
      ],
    ],
    [
      '2001:db8:0:1::',
      [
        '2001:db8:0:1::1',
        '2001:DB8::1:0:0:0:2',
        '2001:0db8:0000:0001::',
        '[2001:db8:0:1::9]:443',
        '2001:db8:0:1::1%eth0',
      ],
    ],
    ['other', ['', 'unknown', '_hidden', '203.0.113.256', 'x'.repeat(10_000), '2001:db8', '010.1']],
  ])('is %s in all notations', (network, spellings) => {
    for (const spelling of spellings) expect(networkOf(spelling), spelling.slice(0, 50)).toBe(network);
  });

  it('separates different addresses', () => {
    expect(
      new Set(['203.0.113.7', '203.0.113.70', '2001:db8:0:1::', '2001:db8:0:2::', '::1', '::2:0:0:0:0'].map(networkOf))
        .size,
    ).toBe(6);
  });
});
