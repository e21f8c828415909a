import { and, desc, eq, gt, isNull, notExists } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Executor } from '#db/connection/database.ts';
import { capabilityProfiles } from '#db/schema.ts';
import type { JudgedProfile, MeasuredProfile } from '#domain/service/capability-profile.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';

/** One of another version may lack items or have unknown ones. */
export interface StoredCapabilityProfile extends Omit<
  typeof capabilityProfiles.$inferSelect,
  'confirmedAt' | 'confirmedBy'
> {
  readonly confirmation: { readonly at: Date; readonly by: string } | undefined;
}

export function judgedProfile({ findings, confirmation }: StoredCapabilityProfile): JudgedProfile {
  return { findings, confirmed: confirmation !== undefined };
}

export async function addCapabilityProfile(
  db: Executor,
  profile: MeasuredProfile & { readonly environment: ServiceMode; readonly measuredAt: Date },
): Promise<bigint> {
  const [row] = await db.insert(capabilityProfiles).values(profile).returning({ id: capabilityProfiles.id });
  if (row === undefined) throw new Error('PostgreSQL returned no id for a stored capability profile');
  return row.id;
}

export async function newestCapabilityProfile(
  db: Executor,
  environment: ServiceMode,
): Promise<StoredCapabilityProfile | undefined> {
  const [row] = await db
    .select()
    .from(capabilityProfiles)
    .where(eq(capabilityProfiles.environment, environment))
    .orderBy(desc(capabilityProfiles.id))
    .limit(1);
  if (row === undefined) return undefined;
  const { confirmedAt, confirmedBy, ...profile } = row;
  return {
    ...profile,
    confirmation: confirmedAt === null || confirmedBy === null ? undefined : { at: confirmedAt, by: confirmedBy },
  };
}

/** Only the newest: the operator must confirm what counts. False when it is confirmed already, or is not the newest. */
export async function confirmCapabilityProfile(
  db: Executor,
  id: bigint,
  confirmation: { readonly at: Date; readonly by: string },
): Promise<boolean> {
  const newer = alias(capabilityProfiles, 'newer');
  const newerOnes = db
    .select({ id: newer.id })
    .from(newer)
    .where(and(eq(newer.environment, capabilityProfiles.environment), gt(newer.id, id)));
  const rows = await db
    .update(capabilityProfiles)
    .set({ confirmedAt: confirmation.at, confirmedBy: confirmation.by })
    .where(and(eq(capabilityProfiles.id, id), isNull(capabilityProfiles.confirmedAt), notExists(newerOnes)))
    .returning({ id: capabilityProfiles.id });
  return rows.length > 0;
}
