import type { Executor } from '#db/connection/database.ts';
import { installation } from '#db/schema.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';

export interface Installation {
  readonly serviceBaseUrl: string;
  readonly serviceMode: ServiceMode;
}

export class OtherInstallationError extends Error {
  readonly stamped: Readonly<Record<keyof Installation, string>>;

  constructor(stamped: OtherInstallationError['stamped'], configured: Installation) {
    super(
      'This database belongs to another service or environment, and mixing their orders would falsify the books.\n' +
        `  database:      ${stamped.serviceBaseUrl} (${stamped.serviceMode})\n` +
        `  configuration: ${configured.serviceBaseUrl} (${configured.serviceMode})\n` +
        'Set SERVICE_BASE_URL and SERVICE_MODE to what the database says, or use another DATABASE_URL.',
    );
    this.name = 'OtherInstallationError';
    this.stamped = stamped;
  }
}

/** @throws OtherInstallationError when the database belongs to another service or environment. */
export async function stampOrVerify(db: Executor, configured: Installation): Promise<void> {
  await db.insert(installation).values(configured).onConflictDoNothing();
  if (!(await verifyStamp(db, configured))) {
    throw new OtherInstallationError({ serviceBaseUrl: '?', serviceMode: '?' }, configured);
  }
}

/** False when there is no stamp yet. @throws OtherInstallationError */
export async function verifyStamp(db: Executor, configured: Installation): Promise<boolean> {
  const [stamped] = await db.select().from(installation);
  if (stamped === undefined) return false;
  if (stamped.serviceBaseUrl !== configured.serviceBaseUrl || stamped.serviceMode !== configured.serviceMode) {
    throw new OtherInstallationError(stamped, configured);
  }
  return true;
}

export async function stampedMode(db: Executor): Promise<string | undefined> {
  const [stamped] = await db.select({ mode: installation.serviceMode }).from(installation);
  return stamped?.mode;
}
