/** JSON file that carries a profile from the database of the sandbox to that of production. */
import * as z from 'zod';
import type { ServiceMode } from '#domain/service/service-address.ts';

/** A profile with the place and time of its measurement. */
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

/** The report of a tour, or only the profile in it. */
const file = z.union([z.object({ profile: content }).transform(({ profile }) => profile), content]);

/** The content of a profile file. */
export function profileFileContent({ baseUrl, measuredAt, findings, evidence }: ProfileFile): z.input<typeof content> {
  return {
    environment: MEASURED_IN,
    service_base_url: baseUrl,
    measured_at: measuredAt.toISOString(),
    findings: { ...findings },
    evidence: { ...evidence },
  };
}

/** Parses the output of {@link profileFileContent} or of a tour's `--json`. @returns undefined for another content. */
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
