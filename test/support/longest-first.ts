import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take much longer than the others. Started last, each would keep one core busy at the end. */
const LONGEST = [
  'fault/crash.test.ts',
  'fault/service-outage.test.ts',
  'platform/platform-start.test.ts',
  'workflow/outage.test.ts',
  'fault/temporal-hangs.test.ts',
  'platform/bench-smoke.test.ts',
  'fault/worker-killed.test.ts',
  'fault/restore.test.ts',
  'workflow/vpn-subscription-silence.test.ts',
] as const;

/** Starts with the longest files, also on a machine without times of earlier runs. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return found < 0 ? LONGEST.length : found;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's own, not that of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
