/** `expand=esim,activation`: the eSIM of work and its activation data. */
import { activationJson, activationOutput, esimJson, esimOutput } from '#api/esims/esim-schemas.ts';
import { storedActivation } from '#api/esims/stored-activation.ts';
import type { Expansion } from '#api/work/expand.ts';
import { addAuditEntries } from '#db/access/audit-log.ts';
import { viewEsims } from '#db/esims/esim-queries.ts';

/** The eSIM that work delivered or changes. */
export const esimExpansion: Expansion = {
  name: 'esim',
  scope: 'esims:read',
  description: 'the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one',
  embed: async ({ database, keyRing, now }, works, { ownerId }) => {
    const esims = await database.run((db) => viewEsims(db, esimIdsOf(works), ownerId));
    return ofEsim(works, new Map(esims.map((esim) => [esim.id, esimJson(esim, keyRing, now())])));
  },
};

/** The activation data of that eSIM. */
const activationExpansion: Expansion = {
  name: 'activation',
  scope: 'esims:reveal',
  description:
    'the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose ' +
    'data are shown is written to the audit log',
  embed: async ({ database, keyRing, now }, works, { apiKeyId, ownerId }) => {
    const esims = await database.run((db) => viewEsims(db, esimIdsOf(works), ownerId));
    if (esims.length === 0) return new Map();
    const shown = new Map(esims.map((esim) => [esim.id, activationJson(esim, storedActivation(keyRing, esim))]));
    const entries = esims.map(({ id }) => ({
      actor: apiKeyId,
      action: 'esim.activation_revealed',
      subject: { kind: 'esim', id } as const,
    }));
    await database.run((db) => addAuditEntries(db, entries, new Date(now())));
    return ofEsim(works, shown);
  },
};

/** What answers about purchases for an eSIM embed. */
export const purchaseExpansions = [esimExpansion, activationExpansion] as const;

/** The fields of an answer for {@link purchaseExpansions}. */
export const purchaseExpansionsOutput = {
  esim: esimOutput.nullable().optional().meta({ description: 'With `expand=esim`; null until there is one.' }),
  activation: activationOutput
    .nullable()
    .optional()
    .meta({ description: 'With `expand=activation`; null until there is an eSIM.' }),
} as const;

interface WorkOfEsim {
  readonly id: string;
  readonly esim_id?: string | null;
}

function esimIdsOf(works: readonly WorkOfEsim[]): string[] {
  return [...new Set(works.flatMap(({ esim_id: id }) => id ?? []))];
}

function ofEsim(works: readonly WorkOfEsim[], byEsim: ReadonlyMap<string, object>): ReadonlyMap<string, object> {
  return new Map(
    works.flatMap(({ id, esim_id: esimId }) => {
      const found = esimId == null ? undefined : byEsim.get(esimId);
      return found === undefined ? [] : [[id, found] as const];
    }),
  );
}
