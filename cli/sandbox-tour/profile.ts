import * as z from 'zod';
import { jsonOf } from '#cli/data-folder/data-folder.ts';
import type { CallObservation, KeyRepeat, Observations, SecondPurchase } from '#cli/sandbox-tour/observations.ts';
import { lapse, markedLine } from '#cli/terminal/output.ts';
import { nounOf } from '#domain/gate/first-purchase-check.ts';
import {
  type Capability,
  type MeasuredProfile,
  type ProfileItem,
  capabilities,
  PROFILE_ITEMS,
  profileItems,
} from '#domain/service/capability-profile.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import { capitalized } from '#domain/text.ts';
import { KINDS, PURCHASE_KINDS } from '#domain/work/kinds.ts';
import { ENDPOINTS, type EndpointContract } from '#upstream/contract.ts';

interface Conclusion {
  readonly finding: boolean | null;
  readonly evidence: string;
}

/** An item without evidence is null. */
export function profileFrom(observations: Observations): MeasuredProfile {
  const conclusions: Readonly<Record<string, Conclusion>> = {
    ...Object.fromEntries(callCapabilities.map((name) => [name, conclusion(callsOf(name), observations.calls[name])])),
    key_replay: keyReplay(observations.keyRepeats),
    key_retention: keyRetention(observations),
    key_serialised: secondPurchase(observations.concurrentSends, 'Two sends of one key at the same moment'),
    reference_unique: secondPurchase(observations.repeatedReference, 'The same reference under another key'),
    debits_at_once: debitsAtOnce(observations.debitSeenAfterMs),
    ...Object.fromEntries(
      PURCHASE_KINDS.map((kind) => [KINDS[kind].seenTrait, conclusion(nounOf(kind), observations.purchases[kind])]),
    ),
  };
  const of = (item: ProfileItem): Conclusion => conclusions[item] ?? NOT_TRIED;
  return { findings: byItem((item) => of(item).finding), evidence: byItem((item) => of(item).evidence) };
}

const callCapabilities = capabilities.filter((name) => name !== 'key_replay');

const NOT_TRIED: Conclusion = { finding: null, evidence: 'It was not tried.' };

function conclusion(what: string, seen: CallObservation | undefined): Conclusion {
  if (seen === undefined) return NOT_TRIED;
  const evidence = `${capitalized(what)}: ${seen.detail}.`;
  return { finding: FINDINGS[seen.kind], evidence };
}

const FINDINGS = { works: true, missing: false, differs: false, broken: null, unclear: null } as const;

export function callsOf(name: Capability): string {
  const endpoints: readonly EndpointContract[] = Object.values(ENDPOINTS);
  const calls = endpoints.filter(({ capability }) => capability === name);
  return calls.map(({ method, path }) => `${method} ${path}`).join(', ');
}

/** False as soon as one repetition did not get the stored result. */
function keyReplay(repeats: readonly KeyRepeat[]): Conclusion {
  if (repeats.length === 0) return NOT_TRIED;
  const against =
    repeats.find(({ outcome }) => outcome === 'another') ?? repeats.find(({ outcome }) => outcome === 'refused');
  if (against !== undefined) return { finding: false, evidence: `${sentAgain(against)}: ${against.detail}.` };
  const replayed = repeats.filter(({ outcome }) => outcome === 'same');
  const unclear = repeats.find(({ outcome }) => outcome === 'unclear');
  if (!replayed.some(({ operation }) => operation === 'order')) {
    const reason = unclear === undefined ? 'No order was sent again' : `${sentAgain(unclear)}: ${unclear.detail}`;
    return { finding: null, evidence: `${reason}.` };
  }
  const names = listed([...new Set(replayed.map(({ operation }) => operation))]);
  const oldest = Math.max(...replayed.map(({ ageMs }) => ageMs));
  return {
    finding: true,
    evidence: `The same bytes and key returned the stored result of ${names}, up to ${lapse(oldest)} later.`,
  };
}

function keyRetention({ keyRepeats, resendWindowMs }: Observations): Conclusion {
  const orders = keyRepeats.filter(({ operation }) => operation === 'order');
  const known = Math.max(-1, ...orders.filter(({ outcome }) => outcome === 'same').map(({ ageMs }) => ageMs));
  // A key that never replayed cannot be forgotten.
  const forgotten =
    known < 0
      ? undefined
      : orders.find(({ outcome, ageMs }) => outcome !== 'same' && outcome !== 'unclear' && ageMs > known);
  if (forgotten !== undefined) {
    return {
      finding: false,
      evidence:
        `A key was known ${lapse(known)} after its first send, and after ${lapse(forgotten.ageMs)} ` +
        `${forgotten.detail}.`,
    };
  }
  if (orders.length === 0) return NOT_TRIED;
  if (known < 0)
    return { finding: null, evidence: 'No key returned a stored result, so retention cannot be measured.' };
  const window = `the resend window is ${lapse(resendWindowMs)}`;
  if (known >= resendWindowMs)
    return { finding: true, evidence: `A key was still known after ${lapse(known)}; ${window}.` };
  return { finding: null, evidence: `A key was known after ${lapse(known)}, and nothing older was tried; ${window}.` };
}

function secondPurchase(seen: SecondPurchase | undefined, what: string): Conclusion {
  if (seen === undefined) return NOT_TRIED;
  const finding = { one: true, two: false, unclear: null }[seen.outcome];
  return { finding, evidence: `${what}: ${seen.detail}.` };
}

function debitsAtOnce(seenAfterMs: number | null | undefined): Conclusion {
  if (seenAfterMs === undefined) return NOT_TRIED;
  if (seenAfterMs === null) return { finding: false, evidence: 'No debit was seen in time.' };
  if (seenAfterMs === 0)
    return { finding: true, evidence: 'The first read of the wallet showed the debits of all orders.' };
  return { finding: false, evidence: `Debits were seen ${lapse(seenAfterMs)} after the first read of the wallet.` };
}

function sentAgain({ operation, ageMs }: KeyRepeat): string {
  const article = /^[aeiou]/.test(operation) ? 'an' : 'a';
  return `The bytes and key of ${article} ${operation}, sent again after ${lapse(ageMs)}`;
}

function listed(words: readonly string[]): string {
  const plural = words.map((word) => `${word}s`);
  return plural.length <= 1 ? plural.join('') : `${plural.slice(0, -1).join(', ')} and ${plural.at(-1) ?? ''}`;
}

function byItem<Value>(of: (item: ProfileItem) => Value): Record<ProfileItem, Value> {
  return Object.fromEntries(profileItems.map((item) => [item, of(item)])) as Record<ProfileItem, Value>;
}

const ITEM_WIDTH = Math.max(...profileItems.map(({ length }) => length)) + 1;

export function profileLines({
  findings,
  evidence,
}: {
  readonly findings: Readonly<Partial<Record<string, boolean | null>>>;
  readonly evidence: Readonly<Partial<Record<string, string>>>;
}): string[] {
  return profileItems.map((item) => {
    const finding = findings[item] ?? null;
    const mark = finding === null ? 'nothing' : finding ? 'ok' : 'failure';
    return markedLine(mark, item, ITEM_WIDTH, evidence[item] ?? `Not measured. ${PROFILE_ITEMS[item]}`);
  });
}

export interface ProfileFile {
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

export function readProfileFile(text: string): ProfileFile | undefined {
  const parsed = file.safeParse(jsonOf(text));
  if (!parsed.success) return undefined;
  const { service_base_url, measured_at, findings, evidence } = parsed.data;
  return { baseUrl: service_base_url, measuredAt: new Date(measured_at), findings, evidence };
}
