import { auditReveal } from '#api/access/audit-log.ts';
import { activationJson, activationOutput, esimJson, esimOutput } from '#api/esims/esim-schemas.ts';
import { invalid, requireFound } from '#api/problems/problem.ts';
import type { Expansion } from '#api/work/expand.ts';
import type { WorkJson } from '#api/work/work-resource.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { Executor } from '#db/connection/database.ts';
import { activationCodeAad } from '#db/encryption-aads.ts';
import { findEsim, viewEsims } from '#db/esims/esim-queries.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { EsimRow } from '#db/work/rows.ts';
import { type Activation, parseLpaString } from '#domain/esims/activation.ts';

/** @throws Problem validation_failed when the owner has no eSIM with this id. */
export async function requireEsim(db: Executor, id: string, owner: Owner): Promise<EsimRow> {
  const esim = await findEsim(db, id, owner);
  if (esim !== undefined) return esim;
  throw invalid([{ in: 'body', field: 'esim_id', message: 'is not the id of an existing eSIM' }]);
}

/** @throws Problem esim_not_found when the owner has no eSIM with this id. */
export async function requireEsimOfPath<Row>(
  find: (db: Executor, id: string, owner: Owner) => Promise<Row | undefined>,
  db: Executor,
  id: string,
  owner: Owner,
): Promise<Row> {
  return requireFound(await find(db, id, owner), 'esim_not_found');
}

/** The caller audits the read. @throws Error when it is not readable. */
export function storedActivation(
  keyRing: KeyRing,
  { id, encryptedActivationCode }: Pick<EsimRow, 'id' | 'encryptedActivationCode'>,
): Activation {
  const activation = parseLpaString(keyRing.decryptText(encryptedActivationCode, activationCodeAad(id)));
  if (activation === undefined) throw new Error(`the stored activation code of ${id} is not one`);
  return activation;
}

export const esimExpansion: Expansion = {
  name: 'esim',
  scope: 'esims:read',
  description: 'the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one',
  embed: async ({ database, keyRing, now }, works, { ownerId }) => {
    const esims = await database.run((db) => viewEsims(db, esimIdsOf(works), ownerId));
    return ofEsim(works, new Map(esims.map((esim) => [esim.id, esimJson(esim, keyRing, now())])));
  },
};

const activationExpansion: Expansion = {
  name: 'activation',
  scope: 'esims:reveal',
  description:
    'the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose ' +
    'data are shown is written to the audit log',
  embed: async (dependencies, works, { apiKeyId, ownerId }) => {
    const { database, keyRing } = dependencies;
    const esims = await database.run((db) => viewEsims(db, esimIdsOf(works), ownerId));
    if (esims.length === 0) return new Map();
    const shown = new Map(esims.map((esim) => [esim.id, activationJson(esim, storedActivation(keyRing, esim))]));
    await auditReveal(dependencies, { actor: apiKeyId, action: 'esim.activation_revealed' }, 'esim', esims);
    return ofEsim(works, shown);
  },
};

export const purchaseExpansions = [esimExpansion, activationExpansion] as const;

export const purchaseExpansionsOutput = {
  esim: esimOutput.nullable().optional().meta({ description: 'With `expand=esim`; null until there is one.' }),
  activation: activationOutput
    .nullable()
    .optional()
    .meta({ description: 'With `expand=activation`; null until there is an eSIM.' }),
} as const;

function esimIdsOf(works: readonly WorkJson[]): string[] {
  return [...new Set(works.flatMap(({ esim_id: id }) => id ?? []))];
}

function ofEsim(works: readonly WorkJson[], byEsim: ReadonlyMap<string, object>): ReadonlyMap<string, object> {
  return new Map(
    works.flatMap(({ id, esim_id: esimId }) => {
      const found = esimId == null ? undefined : byEsim.get(esimId);
      return found === undefined ? [] : [[id, found] as const];
    }),
  );
}
