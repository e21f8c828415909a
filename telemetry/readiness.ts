/** Resolves when a part that the process needs is usable, and rejects with what is wrong when it is not. */
export type ReadinessCheck = () => Promise<void>;

interface CheckResult {
  readonly ok: boolean;
  /** What is wrong, in words. */
  readonly detail?: string;
}

/** Something that keeps nobody from sending us work, but that work will wait for. */
export interface Degradation {
  /** Stable name, such as `not_approved`. */
  readonly condition: string;
  /** What is so and what to do, in words. */
  readonly detail: string;
}

/** Tells what is degraded, from what is known already: it asks nobody outside. */
export type DegradationCheck = () => Promise<readonly Degradation[]>;

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
  /** Says nothing about `ready`: a process that waits for others still takes requests. */
  readonly degraded: readonly Degradation[];
}

export interface ReadinessOptions {
  /** Nothing is degraded without it. */
  readonly degraded?: DegradationCheck | undefined;
  /** How long one check may take, in milliseconds. */
  readonly deadlineMs?: number | undefined;
}

/** A probe of Kubernetes waits one second by default; the answer should come before. */
const CHECK_DEADLINE_MS = 900;

/** Runs all checks at once, each with a deadline. Never throws. */
export async function checkReadiness(
  checks: Readonly<Record<string, ReadinessCheck>>,
  { degraded: readDegraded = async () => [], deadlineMs = CHECK_DEADLINE_MS }: ReadinessOptions = {},
): Promise<Readiness> {
  const [results, degraded] = await Promise.all([
    Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check, deadlineMs)] as const),
    ),
    // Where it cannot be known, a check of what it is read from has failed and says so.
    within(deadlineMs, readDegraded).catch(() => []),
  ]);
  return { ready: results.every(([, result]) => result.ok), checks: Object.fromEntries(results), degraded };
}

async function runCheck(check: ReadinessCheck, deadlineMs: number): Promise<CheckResult> {
  try {
    await within(deadlineMs, check);
    return { ok: true };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

async function within<Result>(deadlineMs: number, work: () => Promise<Result>): Promise<Result> {
  const { promise: deadline, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
  try {
    return await Promise.race([work(), deadline]);
  } finally {
    clearTimeout(timer);
  }
}
