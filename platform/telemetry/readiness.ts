/** Resolves when a dependency of the process is usable, and rejects with the problem otherwise. */
export type ReadinessCheck = () => Promise<void>;

interface CheckResult {
  readonly ok: boolean;
  /** The problem, as text. */
  readonly detail?: string;
}

/** A condition in which the process still accepts work, but the work will wait. */
export interface Degradation {
  /** Stable name, such as `not_approved`. */
  readonly condition: string;
  /** The fact and the advice, as text. */
  readonly detail: string;
}

/** Returns the active degradations from stored data, without calls to other systems. */
export type DegradationCheck = () => Promise<readonly Degradation[]>;

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
  /** Does not affect `ready`: the process still accepts requests. */
  readonly degraded: readonly Degradation[];
}

export interface ReadinessOptions {
  readonly degraded?: DegradationCheck | undefined;
  /** Time limit of one check, in milliseconds. */
  readonly deadlineMs?: number | undefined;
}

/** Kubernetes waits one second for a probe by default; answer before that. */
const CHECK_DEADLINE_MS = 900;

/** Runs all checks in parallel, each with a time limit. Never throws. */
export async function checkReadiness(
  checks: Readonly<Record<string, ReadinessCheck>>,
  { degraded: readDegraded = async () => [], deadlineMs = CHECK_DEADLINE_MS }: ReadinessOptions = {},
): Promise<Readiness> {
  const [results, degraded] = await Promise.all([
    Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check, deadlineMs)] as const),
    ),
    // If the degradations cannot be read, the check of the same source fails too and shows it.
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

/**
 * Lets callers share the reading that is under way, so that any number of them costs one at a time. These paths need no
 * key, and a reading asks PostgreSQL.
 */
export function joined<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () =>
    (running ??= read().finally(() => {
      running = undefined;
    }));
}
