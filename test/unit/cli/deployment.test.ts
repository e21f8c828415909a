import { expect, it } from 'vitest';
import { setCurrent } from '#cli/set-up/deployment.ts';

it('refuses to send new work to a version and to workers without one, before it connects', async () => {
  await expect(setCurrent('2', { unversioned: true }, {})).rejects.toThrow('Both 2 and --unversioned are given.');
});
