/** Resolves when a part that the process needs is usable, and rejects with what is wrong when it is not. */
export type ReadinessCheck = () => Promise<void>;

export interface CheckResult {
  readonly ok: boolean;
  /** What is wrong, in words. */
  readonly detail?: string;
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
}

/** A probe of Kubernetes waits one second by default; the answer should come before. */
const CHECK_DEADLINE_MS = 900;

/**
 * Runs all checks at once, each with a deadline.
 *
 * @param deadlineMs how long one check may take, in milliseconds.
 */
export async function checkReadiness(
  checks: Readonly<Record<string, ReadinessCheck>>,
  deadlineMs: number = CHECK_DEADLINE_MS,
): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check, deadlineMs)] as const),
  );
  return { ready: results.every(([, result]) => result.ok), checks: Object.fromEntries(results) };
}

async function runCheck(check: ReadinessCheck, deadlineMs: number): Promise<CheckResult> {
  const { promise: deadline, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
  try {
    await Promise.race([check(), deadline]);
    return { ok: true };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
