import { failure, type Finding, ok } from '#cli/doctor/finding.ts';
import type { ServiceConfig } from '#config/config.ts';
import type { Database } from '#db/connection/database.ts';
import { OtherInstallationError, verifyStamp } from '#db/connection/installation.ts';

/** Checks that the database belongs to the configured service and environment. Writes nothing. */
export async function checkInstallation(database: Database, service: ServiceConfig): Promise<Finding> {
  const { baseUrl, mode } = service;
  try {
    const stamped = await database.run((db) => verifyStamp(db, { serviceBaseUrl: baseUrl, serviceMode: mode }));
    return ok(
      stamped ? `${baseUrl} (${mode})` : 'none yet; the first start of the API or the worker stamps the database',
    );
  } catch (error) {
    if (!(error instanceof OtherInstallationError)) throw error;
    const lines = error.message.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '));
    return failure(lines.slice(0, -1).join(' '), lines.at(-1) ?? '');
  }
}
