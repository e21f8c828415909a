import QRCode from 'qrcode';
import * as z from 'zod';
import { installLinks, lpaString, parseLpaString, type Activation } from '#domain/activation.ts';
import { addAuditEntry } from '#db/audit-log.ts';
import { findEsim, type EsimRow } from '#db/esim-queries.ts';
import { activationCodePlace } from '#db/orders.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, instant, mayExist, ourId, packageId } from '#api/fields.ts';
import { operation, type Caller, type Operation } from '#api/operation.ts';
import { ageOf, freshness, freshnessExample, packageExample, packageJson, packageOutput } from '#api/package-schemas.ts';
import { Problem } from '#api/problem.ts';
import { bytesReply, jsonReply } from '#api/reply.ts';
import { instantJson } from '#api/representations.ts';
import { valueOf } from '#api/service-problem.ts';

const tag = 'eSIMs';
const JSON_TYPE = 'application/json';
const esimExampleId = 'esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM';
const path = idInPath('esim', esimExampleId);

const esimOutput = z
  .strictObject({
    id: ourId('esim', esimExampleId),
    order_id: ourId('order', 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD'),
    service_esim_id: z.string().meta({ description: 'Id of the eSIM at the service.', example: '77301' }),
    iccid: z.string().meta({ description: 'Serial number of the SIM profile.', example: '8944500102198304826' }),
    package_id: packageId,
    status: z.string().meta({ description: 'As the service calls it.', example: 'installed' }),
    installed_at: instant.nullable(),
    activated_at: instant.nullable(),
    expires_at: instant.nullable(),
    facts_read_at: instant.meta({ description: 'When status and times were last read from the service.' }),
    facts_age_seconds: z.number().meta({ description: 'How long ago that was.', example: 12.3 }),
    created_at: instant,
  })
  .meta({ id: 'Esim' });

const esimExample: z.input<typeof esimOutput> = {
  id: esimExampleId,
  order_id: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD',
  service_esim_id: '77301',
  iccid: '8944500102198304826',
  package_id: 101,
  status: 'installed',
  installed_at: '2030-01-31T12:10:00.000Z',
  activated_at: null,
  expires_at: '2030-03-02T12:00:00.000Z',
  facts_read_at: '2030-01-31T12:00:00.000Z',
  facts_age_seconds: 12.3,
  created_at: '2030-01-31T12:00:00.000Z',
};

const activationOutput = z
  .strictObject({
    esim_id: ourId('esim', esimExampleId),
    iccid: z.string(),
    activation_code: z.string().meta({ description: 'The LPA string, which a QR code carries.', example: 'LPA:1$smdp.example.com$A1B2-C3D4' }),
    smdp_address: z.string().meta({ description: 'SM-DP+ address, for typing it in by hand.', example: 'smdp.example.com' }),
    matching_id: z.string().meta({ description: 'For typing it in by hand.', example: 'A1B2-C3D4' }),
    confirmation_code_required: z.boolean().meta({ description: 'True when the user is asked for a further code.' }),
    install_links: z
      .strictObject({ ios: z.string(), android: z.string() })
      .meta({ description: 'Open the installation on the phone itself.' }),
  })
  .meta({ id: 'EsimActivation' });

const activationExample: z.input<typeof activationOutput> = activationJson(
  { id: esimExampleId, iccid: '8944500102198304826' },
  { smdpAddress: 'smdp.example.com', matchingId: 'A1B2-C3D4', confirmationCodeRequired: false },
);

const topupOptions = z.strictObject({ data: z.array(packageOutput), ...freshness }).meta({ id: 'TopupOptions' });

/** Around the code, as the QR standard asks for; without it cameras fail. */
const QUIET_ZONE_MODULES = 4;
/** At four modules of margin a typical code is then about 400 pixels wide, sharp on a phone. */
const PNG_PIXELS_PER_MODULE = 10;

const AUDITED = 'Needs the scope `esims:reveal`. Each read is written to the audit log, and no cache keeps it.';

/** What was delivered. The activation code is shown only to keys that may see it, and each look is written down. */
export function esimOperations(dependencies: ApiDependencies): Operation[] {
  const { database, now } = dependencies;
  const read = async (id: string): Promise<EsimRow> => {
    const row = mayExist('esim', id) ? await database.run((db) => findEsim(db, id)) : undefined;
    if (row === undefined) throw new Problem('esim_not_found');
    return row;
  };
  const reveal = async (id: string, caller: Caller, action: string) => {
    const esim = await read(id);
    const code = dependencies.keyRing.openText(esim.sealedActivationCode, activationCodePlace(id));
    const activation = parseLpaString(code);
    if (activation === undefined) throw new Error(`the stored activation code of ${id} is not one`);
    await database.run((db) =>
      addAuditEntry(db, { actor: caller.apiKeyId, action, subject: { kind: 'esim', id } }, new Date(now())),
    );
    return { esim, activation };
  };
  return [
    operation({
      id: 'getEsim',
      method: 'get',
      path: '/v1/esims/{id}',
      tag,
      summary: 'Read an eSIM and its installation facts',
      scope: 'esims:read',
      params: path,
      answers: { 200: { description: 'The eSIM.', contentType: JSON_TYPE, schema: esimOutput, example: esimExample } },
      problems: ['esim_not_found'],
      handle: async ({ params: { id } }) => jsonReply(200, esimJson(await read(id), now())),
    }),
    operation({
      id: 'listTopupOptions',
      method: 'get',
      path: '/v1/esims/{id}/topup-options',
      tag,
      summary: 'List the packages that an eSIM can be recharged with',
      description: 'Read from the service at this moment. `POST /v1/topups` takes one of them.',
      scope: 'esims:read',
      params: path,
      answers: {
        200: {
          description: 'All options, by id.',
          contentType: JSON_TYPE,
          schema: topupOptions,
          example: { data: [packageExample], ...freshnessExample },
        },
      },
      problems: ['esim_not_found', 'service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ params: { id } }) => {
        const { serviceEsimId } = await read(id);
        const { items } = valueOf(await dependencies.service.listTopupOptions(serviceEsimId));
        const data = items.toSorted((left, right) => left.id - right.id).map(packageJson);
        return jsonReply(200, { data, ...ageOf(now(), now()) });
      },
    }),
    operation({
      id: 'getEsimActivation',
      method: 'get',
      path: '/v1/esims/{id}/activation',
      tag,
      summary: 'Read what a phone needs to install the eSIM',
      description: AUDITED,
      scope: 'esims:reveal',
      params: path,
      answers: {
        200: {
          description: 'The activation code and its parts.',
          contentType: JSON_TYPE,
          schema: activationOutput,
          example: activationExample,
        },
      },
      problems: ['esim_not_found'],
      handle: async ({ params: { id }, caller }) => {
        const { esim, activation } = await reveal(id, caller, 'esim.activation_revealed');
        return jsonReply(200, activationJson(esim, activation));
      },
    }),
    operation({
      id: 'getEsimQrSvg',
      method: 'get',
      path: '/v1/esims/{id}/qr.svg',
      tag,
      summary: 'Get the activation code as a QR code, SVG',
      description: AUDITED,
      scope: 'esims:reveal',
      params: path,
      answers: { 200: { description: 'The QR code.', contentType: 'image/svg+xml' } },
      problems: ['esim_not_found'],
      handle: async ({ params: { id }, caller }) => {
        const { activation } = await reveal(id, caller, 'esim.qr_revealed');
        const svg = await QRCode.toString(lpaString(activation), { type: 'svg', margin: QUIET_ZONE_MODULES });
        return bytesReply(200, 'image/svg+xml; charset=utf-8', svg, fileName(`${id}.svg`));
      },
    }),
    operation({
      id: 'getEsimQrPng',
      method: 'get',
      path: '/v1/esims/{id}/qr.png',
      tag,
      summary: 'Get the activation code as a QR code, PNG',
      description: AUDITED,
      scope: 'esims:reveal',
      params: path,
      answers: { 200: { description: 'The QR code.', contentType: 'image/png' } },
      problems: ['esim_not_found'],
      handle: async ({ params: { id }, caller }) => {
        const { activation } = await reveal(id, caller, 'esim.qr_revealed');
        const png = await QRCode.toBuffer(lpaString(activation), {
          type: 'png',
          margin: QUIET_ZONE_MODULES,
          scale: PNG_PIXELS_PER_MODULE,
        });
        return bytesReply(200, 'image/png', png, fileName(`${id}.png`));
      },
    }),
  ];
}

function esimJson(esim: EsimRow, now: number): z.input<typeof esimOutput> {
  return {
    id: esim.id,
    order_id: esim.orderId,
    service_esim_id: esim.serviceEsimId,
    iccid: esim.iccid,
    package_id: esim.packageId,
    status: esim.status,
    installed_at: instantJson(esim.installedAt),
    activated_at: instantJson(esim.activatedAt),
    expires_at: instantJson(esim.expiresAt),
    facts_read_at: esim.factsReadAt.toISOString(),
    facts_age_seconds: Math.max(0, now - esim.factsReadAt.getTime()) / 1_000,
    created_at: esim.createdAt.toISOString(),
  };
}

function activationJson(esim: Pick<EsimRow, 'id' | 'iccid'>, activation: Activation): z.input<typeof activationOutput> {
  return {
    esim_id: esim.id,
    iccid: esim.iccid,
    activation_code: lpaString(activation),
    smdp_address: activation.smdpAddress,
    matching_id: activation.matchingId,
    confirmation_code_required: activation.confirmationCodeRequired,
    install_links: installLinks(activation),
  };
}

function fileName(name: string): Record<string, string> {
  return { 'Content-Disposition': `inline; filename="${name}"` };
}
