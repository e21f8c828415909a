/** Problems that each kind of work has. */
import { KINDS, WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';

/** A problem of the catalogue. */
export interface ProblemRow {
  readonly status: number;
  readonly title: string;
  /** What the caller should do; shown on the problem's own page and in the API description. */
  readonly advice: string;
}

/** By kind of work, the problem that there is none with this id. */
export const WORK_NOT_FOUND = Object.fromEntries(
  WORK_KINDS.map((kind) => [
    `${kind}_not_found`,
    {
      status: 404,
      title: `There is no such ${KINDS[kind].noun}`,
      advice: `Check the id; it begins with \`${KINDS[kind].idPrefix}_\`.`,
    },
  ]),
) as Record<`${WorkKind}_not_found`, ProblemRow & { readonly status: 404 }>;

type CallerReference = Extract<(typeof KINDS)[WorkKind], { readonly callerReference: string }>['callerReference'];

/** By the field with the caller's own reference, the problem that there is work with this reference. */
export const REFERENCE_TAKEN = Object.fromEntries(
  Object.values(KINDS).flatMap((kind) => {
    if (!('callerReference' in kind)) return [];
    const { noun, callerReference: field } = kind;
    const title = `${/^[aeiou]/.test(noun) ? 'An' : 'A'} ${noun} with this ${field} exists`;
    const advice =
      `Read the ${noun} in \`existing\`. If it is the one you meant, do nothing; ` +
      `for another one use a new ${field}.`;
    return [[`${field}_taken`, { status: 409, title, advice }]];
  }),
) as Record<`${CallerReference}_taken`, ProblemRow & { readonly status: 409 }>;
