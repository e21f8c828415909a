import { describe, expect, it } from 'vitest';
import { PARTS, readWorkerConfig } from '#config/config.ts';
import { serviceAddress } from '#domain/service/service-address.ts';
import { PRODUCT_ENVIRONMENT } from '#test/support/product-environment.ts';

const BASE = 'https://service.example/api/reseller/v1';
const read = (more: Record<string, string> = {}) =>
  PARTS.service({ SERVICE_BASE_URL: BASE, SERVICE_EMAIL: 'shop@example.com', SERVICE_PASSWORD: 'secret', ...more });

describe('SERVICE_BASE_URL', () => {
  it.each([BASE, `${BASE}/`, 'http://127.0.0.1:4000/api/reseller/v1', 'https://service.example/shop/api/reseller/v1'])(
    'may be %s',
    (url) => {
      expect(read({ SERVICE_BASE_URL: url }).baseUrl).toBe(url.replace(/\/$/, ''));
    },
  );

  it.each([
    'https://service.example',
    'https://service.example/api/reseller',
    'https://service.example/api/reseller/v2',
    'https://service.example/api/reseller/v1/orders',
    `${BASE}/sandbox`,
  ])('is refused with the required end of the address: %s', (url) => {
    expect(() => read({ SERVICE_BASE_URL: url })).toThrow(
      /SERVICE_BASE_URL: must end with \/api\/reseller\/v1 .*sandbox's is derived/,
    );
  });
});

describe('SERVICE_MODE', () => {
  it('is the sandbox by default', () => {
    expect(read().mode).toBe('sandbox');
    expect(read({ SERVICE_MODE: 'production' }).mode).toBe('production');
    expect(() => read({ SERVICE_MODE: 'live' })).toThrow(/SERVICE_MODE/);
  });

  it('production needs https, but on this machine', () => {
    const production = (url: string) => read({ SERVICE_MODE: 'production', SERVICE_BASE_URL: url }).mode;
    expect(() => production(BASE.replace('https', 'http'))).toThrow('SERVICE_BASE_URL: must begin with https://');
    expect(production('http://127.0.0.1:4000/api/reseller/v1')).toBe('production');
  });

  it('selects the address', () => {
    expect(serviceAddress(BASE, 'production')).toBe('https://service.example/api/reseller/v1');
    expect(serviceAddress(BASE, 'sandbox')).toBe('https://service.example/api/reseller/v1/sandbox');
  });

  it('selects SERVICE_TOKEN_DAYS, which the sandbox login does not have', () => {
    expect(read({ SERVICE_TOKEN_DAYS: '30' }).tokenDays).toBeUndefined();
    expect(read({ SERVICE_TOKEN_DAYS: '30', SERVICE_MODE: 'production' }).tokenDays).toBe(30);
  });
});

describe('the proxy of calls to the service', () => {
  const PROXY = 'http://proxy:3128';
  const LOCAL = 'http://127.0.0.1:4000/api/reseller/v1';

  it.each([
    [{ HTTPS_PROXY: PROXY }, PROXY],
    [{ HTTPS_PROXY: 'proxy:3128' }, PROXY],
    [{ HTTPS_PROXY: 'http://upper:1', https_proxy: PROXY }, PROXY],
    [{ HTTP_PROXY: PROXY }, undefined],
    [{ HTTP_PROXY: PROXY, SERVICE_BASE_URL: BASE.replace('https', 'http') }, PROXY],
    [{ http_proxy: PROXY, SERVICE_BASE_URL: LOCAL }, undefined],
    [{ http_proxy: 'not usable', SERVICE_BASE_URL: LOCAL.replace('127.0.0.1', '[::1]') }, undefined],
    [{ HTTPS_PROXY: PROXY, NO_PROXY: 'other, .example' }, undefined],
    [{ HTTPS_PROXY: PROXY, NO_PROXY: 'Service.Example' }, undefined],
    [{ HTTPS_PROXY: PROXY, no_proxy: '*' }, undefined],
    [{ HTTPS_PROXY: PROXY, NO_PROXY: 'service.example:443,ice.example' }, undefined],
    [{ HTTPS_PROXY: PROXY, NO_PROXY: 'service.example:8443,ice.example' }, PROXY],
  ])('of %j is %s', (variables, proxy) => {
    expect(read(variables).proxy).toBe(proxy);
  });

  it('is refused if it is no HTTP proxy, without its value', () => {
    const said = () => read({ HTTPS_PROXY: 'socks5://user:geheim@proxy' });
    expect(said).toThrow('HTTPS_PROXY: must be the URL of an HTTP proxy');
    expect(said).not.toThrow('geheim');
  });
});

describe('resends', () => {
  it.each(['sandbox', 'production'])(
    'in %s depend on the capability profile, unless key_replay is switched off',
    (SERVICE_MODE) => {
      expect(read({ SERVICE_MODE }).resendAllowed).toBe(true);
      expect(read({ SERVICE_MODE, SERVICE_MISSING_CAPABILITIES: 'order_read,key_replay' }).resendAllowed).toBe(false);
    },
  );
});

describe('SERVICE_HEADER_PREFIX', () => {
  it('is the prefix of the specification by default', () => {
    expect(PARTS.headerPrefix({})).toBe('X-Service');
    expect(PARTS.headerPrefix({ SERVICE_HEADER_PREFIX: '' })).toBe('X-Service');
  });

  it.each(['X-Acme', 'x-acme-mobile', 'Acme', 'X_Acme', 'A', `X-${'a'.repeat(38)}`])('may be %s', (prefix) => {
    expect(PARTS.headerPrefix({ SERVICE_HEADER_PREFIX: prefix })).toBe(prefix);
  });

  it.each(['X-Acme-', '-Acme', 'X Acme', 'X-Acme:', 'X-Äcme', 'X-Acme\r\nHost: evil', `X-${'a'.repeat(39)}`])(
    'is refused as %j, which is no part of a header name or too long',
    (prefix) => {
      const problem = /SERVICE_HEADER_PREFIX: must be the part of the header names before -Event/;
      expect(() => PARTS.headerPrefix({ SERVICE_HEADER_PREFIX: prefix })).toThrow(problem);
    },
  );
});

describe('the version of the workers', () => {
  it('is none without both variables, and both together otherwise', () => {
    expect(readWorkerConfig(PRODUCT_ENVIRONMENT).deployment).toBeUndefined();
    const both = { WORKER_DEPLOYMENT_NAME: 'shop', WORKER_BUILD_ID: '0.2.0+3f9a' };
    expect(readWorkerConfig({ ...PRODUCT_ENVIRONMENT, ...both }).deployment).toEqual({
      deploymentName: 'shop',
      buildId: '0.2.0+3f9a',
    });
  });

  it.each([
    [{ WORKER_DEPLOYMENT_NAME: 'shop' }, 'WORKER_BUILD_ID is missing'],
    [{ WORKER_BUILD_ID: '0.2.0' }, 'WORKER_DEPLOYMENT_NAME is missing'],
    // Temporal separates the name and the build by these.
    [{ WORKER_DEPLOYMENT_NAME: 'shop.eu', WORKER_BUILD_ID: '1' }, 'WORKER_DEPLOYMENT_NAME: must be'],
    [{ WORKER_DEPLOYMENT_NAME: 'shop', WORKER_BUILD_ID: 'sha256:00' }, 'WORKER_BUILD_ID: must be'],
  ])('refuses %j', (variables, message) => {
    expect(() => readWorkerConfig({ ...PRODUCT_ENVIRONMENT, ...variables })).toThrow(message);
    expect(() => PARTS.deployment(variables)).toThrow(message);
  });
});
