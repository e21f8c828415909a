import * as z from 'zod';
import {
  ageOf,
  freshness,
  idInput,
  instant,
  instantJson,
  ourId,
  packageId,
  packageIdInQuery,
  timeInQuery,
} from '#api/fields/fields.ts';
import { idsInQuery, pageQuery } from '#api/lists/lists.ts';
import { topupOption } from '#api/packages/packages.ts';
import {
  callerReferencesInQuery,
  customerReference,
  customerReferenceInQuery,
  customerReferenceOutput,
  readCustomer,
} from '#api/work/work-input.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { EsimWithOrder, UsageReading } from '#db/esims/esim-queries.ts';
import type { EsimRow } from '#db/work/rows.ts';
import { type Activation, installLinks, lpaString } from '#domain/esims/activation.ts';
import { SIMULATED_STATES } from '#upstream/contract.ts';

const iccid = z.string().nullable().meta({
  description: 'Serial number of the SIM profile; null when the service states none that can be read.',
  example: '8944500102198304826',
});

export const esimOutput = z
  .strictObject({
    id: ourId('esim'),
    order_id: ourId('order'),
    external_order_id: z.string().meta({ description: 'Your reference of the order.', example: 'shop-2030-000123' }),
    customer_reference: customerReferenceOutput,
    service_esim_id: z.string().meta({ description: 'Id of the eSIM at the service.', example: '77301' }),
    iccid,
    package_id: packageId,
    status: z.string().meta({ description: 'Status at the service.', example: 'installed' }),
    installed_at: instant.nullable(),
    activated_at: instant.nullable(),
    expires_at: instant.nullable(),
    read_at: instant.meta({ description: 'When status and times were last read from the service.' }),
    facts_age_seconds: z.number().meta({ description: 'Age of that read in seconds.', example: 12.3 }),
    created_at: instant,
    updated_at: instant.meta({ description: 'When its status or one of its times last changed.' }),
  })
  .meta({
    id: 'Esim',
    example: {
      customer_reference: null,
      installed_at: '2030-01-31T12:10:00.000Z',
      expires_at: '2030-03-02T12:00:00.000Z',
    },
  });

export const esimChange = z
  .strictObject({
    customer_reference: customerReference
      .nullable()
      .meta({ description: 'Your reference of the customer; `null` removes it. Stored encrypted.', example: 'C-2207' }),
  })
  .meta({ id: 'EsimChange' });

export const esimSimulation = z
  .strictObject({ state: z.enum(SIMULATED_STATES).meta({ description: 'What the phone does; states never go back.' }) })
  .meta({ id: 'EsimSimulation' });

export const activationOutput = z
  .strictObject({
    esim_id: ourId('esim'),
    iccid,
    activation_code: z
      .string()
      .meta({ description: 'The LPA string, the content of a QR code.', example: 'LPA:1$smdp.example.com$A1B2-C3D4' }),
    smdp_address: z.string().meta({ description: 'SM-DP+ address, for manual input.', example: 'smdp.example.com' }),
    matching_id: z.string().meta({ description: 'Matching id, for manual input.', example: 'A1B2-C3D4' }),
    confirmation_code_required: z.boolean().meta({ description: 'True when the user must enter another code.' }),
    install_links: z.strictObject({ ios: z.string(), android: z.string() }).meta({
      description: 'Links that open the installation on the phone.',
      example: installLinks({
        smdpAddress: 'smdp.example.com',
        matchingId: 'A1B2-C3D4',
        confirmationCodeRequired: false,
      }),
    }),
  })
  .meta({ id: 'EsimActivation' });

export const topupOptions = z.strictObject({ data: z.array(topupOption), ...freshness }).meta({ id: 'TopupOptions' });

export const esimListQuery = z.strictObject({
  id: idsInQuery('esim'),
  status: z
    .string()
    .regex(
      /^[\x21-\x2b\x2d-\x7e]{1,64}(,[\x21-\x2b\x2d-\x7e]{1,64}){0,9}$/,
      'must be one to ten values, separated by commas',
    )
    .transform((text) => text.split(','))
    .optional()
    .meta({
      description: 'Status at the service, such as `installed`, or several, separated by commas.',
      override: { type: 'string', pattern: '^[!-+\\--~]{1,64}(,[!-+\\--~]{1,64}){0,9}$' },
    }),
  order_id: idInput('order').optional(),
  external_order_id: callerReferencesInQuery('order'),
  customer_reference: customerReferenceInQuery,
  iccid: z
    .string()
    .regex(/^[0-9A-F]{18,22}$/, 'must have 18 to 22 digits, or the capital letters A to F')
    .optional()
    .meta({ description: 'Serial number of the SIM profile.' }),
  package_id: packageIdInQuery.optional(),
  created_after: timeInQuery('Later than this.'),
  created_before: timeInQuery('Earlier than this.'),
  updated_after: timeInQuery('Its status or one of its times changed later than this.'),
  ...pageQuery,
});

const megabytes = z.number().min(0);

export const usageOutput = z
  .strictObject({
    esim_id: ourId('esim'),
    data_used_mb: megabytes.meta({ description: 'Megabytes.', example: 512.5 }),
    data_total_mb: megabytes
      .nullable()
      .meta({ description: 'Megabytes; null when it is unlimited or not reported.', example: 3072 }),
    data_left_mb: megabytes.nullable().meta({ description: 'Megabytes; null without a total.', example: 2559.5 }),
    unlimited: z
      .boolean()
      .nullable()
      .meta({ description: 'True when the service reports no limit; null when it reports nothing.' }),
    measured_at: instant.nullable().meta({ description: 'When the supplier measured it, if the service reports it.' }),
    source: z.enum(['service', 'stored']).meta({
      description: '`stored`: the service could not be read; this is our newest stored value.',
    }),
    ...freshness,
  })
  .meta({ id: 'EsimUsage', example: { unlimited: false, measured_at: '2030-01-31T11:59:00.000Z', age_seconds: 0 } });

/** @param now epoch milliseconds. */
export function esimJson(esim: EsimWithOrder, keyRing: KeyRing, now: number): z.input<typeof esimOutput> {
  return {
    id: esim.id,
    order_id: esim.orderId,
    external_order_id: esim.externalOrderId,
    customer_reference: readCustomer(keyRing, 'order', esim.orderId, esim),
    service_esim_id: esim.serviceEsimId,
    iccid: esim.iccid,
    package_id: esim.packageId,
    status: esim.status,
    installed_at: instantJson(esim.installedAt),
    activated_at: instantJson(esim.activatedAt),
    expires_at: instantJson(esim.expiresAt),
    read_at: esim.readAt.toISOString(),
    facts_age_seconds: Math.max(0, now - esim.readAt.getTime()) / 1_000,
    created_at: esim.createdAt.toISOString(),
    updated_at: esim.updatedAt.toISOString(),
  };
}

export function activationJson(
  esim: Pick<EsimRow, 'id' | 'iccid'>,
  activation: Activation,
): z.input<typeof activationOutput> {
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

/** @param now epoch milliseconds. */
export function usageJson(
  esimId: string,
  { usedMb, totalMb, measuredAt, readAt }: UsageReading,
  source: 'service' | 'stored',
  now: number,
): z.input<typeof usageOutput> {
  return {
    esim_id: esimId,
    data_used_mb: usedMb,
    data_total_mb: totalMb ?? null,
    data_left_mb: totalMb == null ? null : Math.max(0, totalMb - usedMb),
    unlimited: totalMb === undefined ? null : totalMb === null,
    measured_at: instantJson(measuredAt),
    source,
    ...ageOf(readAt.getTime(), now),
  };
}
