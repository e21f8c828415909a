/** Test files that run at the same time choose their ports from different ones. */
import { choosePortsInLane } from '#cli/embedded/ports.ts';

const LANES = 8;

choosePortsInLane(Number(process.env['VITEST_POOL_ID'] ?? 0) % LANES, LANES);
