import type { Connection } from '@temporalio/client';
import { failure, type Finding, ok } from '#cli/doctor/finding.ts';
import type { TemporalConfig } from '#config/config.ts';
import { connect, TemporalUnavailableError } from '#temporal/connection.ts';

/**
 * Checks that Temporal answers and accepts our credentials.
 *
 * @param timeoutMs time limit of the connection, in milliseconds.
 * @returns the finding, and the connection if there is one; the caller closes it.
 */
export async function checkTemporal(
  config: TemporalConfig,
  timeoutMs: number,
): Promise<{ readonly finding: Finding; readonly connection?: Connection }> {
  try {
    const connection = await connect(config, { timeoutMs });
    return { finding: ok(`${config.address} answers`), connection };
  } catch (error) {
    if (!(error instanceof TemporalUnavailableError)) throw error;
    const end = error.message.search(/[.:] /);
    return { finding: failure(error.message.slice(0, end), capitalized(error.message.slice(end + 2))) };
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
