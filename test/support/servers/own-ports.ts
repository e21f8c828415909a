/** Parallel test files choose their ports from separate ranges. */
import { choosePortsInLane } from '#cli/embedded/ports.ts';

const LANES = 8;

choosePortsInLane(Number(process.env['VITEST_POOL_ID'] ?? 0) % LANES, LANES);
