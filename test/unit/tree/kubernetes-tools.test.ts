import { expect, it, vi } from 'vitest';
import { kubernetesTools } from '#test/support/kubernetes/tools.ts';

it('the tests of the Helm chart say that they do not run when there is no Go, and fail in CI', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect(await kubernetesTools({ PATH: '/nowhere' })).toBeUndefined();
  expect(said).toHaveBeenCalledWith(expect.stringContaining('DO NOT RUN: Go is not installed'));
  said.mockRestore();
  await expect(kubernetesTools({ PATH: '/nowhere', CI: 'true' })).rejects.toThrow(
    'cannot be checked: Go is not installed',
  );
});
