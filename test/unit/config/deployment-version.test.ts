import { describe, expect, it } from 'vitest';
import { readDeploymentVersion, readWorkerConfig } from '#config/config.ts';

const worker = {
  DATABASE_URL: 'postgres://reseller@127.0.0.1:1/reseller',
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
  SERVICE_BASE_URL: 'http://127.0.0.1:1/api/reseller/v1',
  SERVICE_EMAIL: 'shop@example.com',
  SERVICE_PASSWORD: 'secret',
};

describe('the version of the workers', () => {
  it('is none without both variables, and both together otherwise', () => {
    expect(readWorkerConfig(worker).deployment).toBeUndefined();
    const both = { WORKER_DEPLOYMENT_NAME: 'shop', WORKER_BUILD_ID: '0.2.0+3f9a' };
    expect(readWorkerConfig({ ...worker, ...both }).deployment).toEqual({
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
    expect(() => readWorkerConfig({ ...worker, ...variables })).toThrow(message);
    expect(() => readDeploymentVersion(variables)).toThrow(message);
  });
});
