import { describe, expect, it } from 'vitest';
import { AddressPolicy, dnsLookup, endpointUrlProblem, urlProblem } from '#outbound/webhook-address.ts';

const open = new AddressPolicy();

describe('the address of a webhook', () => {
  it.each([
    ['of this machine', ['127.0.0.1', '127.8.9.1', '::1', '0.0.0.0', '::', '0.1.2.3']],
    [
      'of a private network',
      ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fc00::1', 'fec0::1'],
    ],
    [
      'of this link, metadata of clouds among them',
      [
        '169.254.169.254',
        '169.254.0.1',
        'fe80::1',
        'fe80::1%eth0',
        'fd00:ec2::254',
        '100.100.100.200',
        '192.0.0.192',
        '168.63.129.16',
      ],
    ],
    ['of a carrier', ['100.64.0.1', '100.127.255.255']],
    [
      'of no single host',
      [
        '224.0.0.1',
        '239.255.255.255',
        'ff02::1',
        '255.255.255.255',
        '240.0.0.1',
        '192.0.2.1',
        '198.51.100.1',
        '203.0.113.1',
        '198.18.0.1',
        '2001:db8::1',
        '100::1',
        '4000::1',
      ],
    ],
    [
      'of IPv4 in the form of IPv6',
      ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe', '::127.0.0.1', '::ffff:0:127.0.0.1'],
    ],
    [
      'of IPv4 behind a translator or a tunnel',
      [
        '64:ff9b::7f00:1',
        '64:ff9b::808:808',
        '64:ff9b:1::a00:1',
        '2002:7f00:1::',
        '2002:808:808::',
        '2001:0:53aa:64c:0:0:80ff:fffe',
      ],
    ],
    [
      'in an unusual form, or none',
      ['010.0.0.1', '0x7f.1', '2130706433', '127.1', 'localhost', '', '1.2.3', '1.2.3.4.5'],
    ],
  ])('is refused %s', (_, addresses) => {
    expect(addresses.filter((address) => open.judge(address) !== 'refused')).toEqual([]);
  });

  it('may be any public address', () => {
    for (const address of [
      '93.184.215.14',
      '8.8.8.8',
      '172.32.0.1',
      '100.128.0.1',
      '2606:2800:220:1::1',
      '2a00:1450:4001::1',
      '::ffff:8.8.8.8',
    ]) {
      expect(open.judge(address), address).toBe('public');
    }
  });

  it('may be a configured address, in either form, but not its neighbours', () => {
    const policy = new AddressPolicy(['10.20.0.0/16', 'fd00:1::/64']);
    for (const address of ['10.20.0.1', '::ffff:10.20.255.255', 'fd00:1::9'])
      expect(policy.judge(address), address).toBe('allowed');
    for (const address of ['10.21.0.1', 'fd00:1:0:1::9', '127.0.0.1'])
      expect(policy.judge(address), address).toBe('refused');
  });
});

describe('the URL of an endpoint', () => {
  it.each([
    'shop.example.com/hook',
    'ftp://shop.example.com/',
    'file:///etc/passwd',
    'gopher://shop.example.com/',
    'javascript:alert(1)',
    'https://user@shop.example.com/',
    'https://:password@shop.example.com/',
    'https://shop.example.com/#part',
    'https://shop.example.com:22/',
    'https://shop.example.com:25/',
    `https://shop.example.com/${'x'.repeat(2_048)}`,
    '//shop.example.com/',
    '',
  ])('is not %s', (url) => {
    expect(urlProblem(url)).toBeTypeOf('string');
  });

  const hosts: Record<string, string[]> = {
    'shop.example.com': ['93.184.215.14', '2606:2800:220:1::1'],
    'inside.example.com': ['10.20.0.1'],
    'both.example.com': ['93.184.215.14', '127.0.0.1'],
  };
  const lookup = async (host: string) =>
    hosts[host] ?? (/^[\d.]+$|:/.test(host) ? [host] : Promise.reject(new Error('unknown')));
  const problem = (url: string, allowed: string[] = []) => endpointUrlProblem(url, new AddressPolicy(allowed), lookup);

  it('may be any with a public address, by HTTPS', async () => {
    expect(await problem('https://shop.example.com/hook?shop=1')).toBeUndefined();
    expect(await problem('https://shop.example.com:8443/hook')).toBeUndefined();
    expect(await problem('https://93.184.215.14/hook')).toBeUndefined();
    expect(await problem('http://shop.example.com/hook')).toContain('https://');
  });

  it('must be public, in every notation of the address', async () => {
    const hosts = [
      'inside.example.com',
      'both.example.com',
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:7f00:1]',
      '169.254.169.254',
    ];
    for (const host of hosts)
      expect(await problem(`https://${host}/latest/meta-data/`), host).toContain('public address');
  });

  it('is not this machine, by any of its names', async () => {
    const lookup = dnsLookup();
    const hosts = ['localhost', 'LOCALHOST', 'localhost.', 'shop.localhost', 'a.b.localhost.', '127.0.0.1.', '127.1'];
    for (const host of hosts)
      expect(await endpointUrlProblem(`https://${host}/`, open, lookup), host).toContain('public address');
  });

  it('may be private, and without TLS, if the configuration lists its network', async () => {
    expect(await problem('http://inside.example.com/hook', ['10.20.0.0/16'])).toBeUndefined();
    expect(await problem('https://both.example.com/hook', ['10.20.0.0/16'])).toContain('public address');
  });

  it('may have an unknown host with HTTPS, because each delivery looks it up again', async () => {
    expect(await problem('https://new.example.com/hook')).toBeUndefined();
    expect(await problem('http://new.example.com/hook')).toContain('https://');
  });
});
