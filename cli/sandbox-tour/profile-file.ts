/** A profile on its way from the database of the sandbox to that of production, as JSON. */
import * as z from 'zod';
import type { ServiceMode } from '#domain/service/service-address.ts';

/** A profile with where and when it was measured. */
export interface ProfileFile {
  /** `{base_url}` of the service. */
  readonly baseUrl: string;
  readonly measuredAt: Date;
  readonly findings: Readonly<Record<string, boolean | null>>;
  readonly evidence: Readonly<Record<string, string>>;
}

const MEASURED_IN = 'sandbox' satisfies ServiceMode;

const name = z.string().regex(/^[a-z_]{1,64}$/);

const content = z.object({
  environment: z.literal(MEASURED_IN),
  service_base_url: z.url(),
  measured_at: z.iso.datetime(),
  findings: z.record(name, z.boolean().nullable()),
  evidence: z.record(name, z.string().max(2_000)),
});

/** Either the report of a tour or the profile in it. */
const file = z.union([z.object({ profile: content }).transform(({ profile }) => profile), content]);

export function profileFileContent({ baseUrl, measuredAt, findings, evidence }: ProfileFile): z.input<typeof content> {
  return {
    environment: MEASURED_IN,
    service_base_url: baseUrl,
    measured_at: measuredAt.toISOString(),
    findings: { ...findings },
    evidence: { ...evidence },
  };
}

/** Reads what {@link profileFileContent} or a tour's `--json` wrote. @returns undefined when it is something else. */
export function readProfileFile(text: string): ProfileFile | undefined {
  const parsed = file.safeParse(jsonOf(text));
  if (!parsed.success) return undefined;
  const { service_base_url, measured_at, findings, evidence } = parsed.data;
  return { baseUrl: service_base_url, measuredAt: new Date(measured_at), findings, evidence };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
