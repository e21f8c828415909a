import * as z from 'zod';
import type { Operation } from '#api/http/operation.ts';
import type { TestApi } from '#test/support/network/api.ts';

/**
 * Results of an own-work key for calls without an id. A new call must be listed here, be `accountWide`, or have the
 * kind of its id in its path (`idInPath`).
 */
export const WITHOUT_ID: Readonly<
  Record<string, 'own list' | 'own file' | 'own events' | 'creates' | 'changes own' | 'own key' | 'same for all keys'>
> = {
  listOrders: 'own list',
  listOrderBatches: 'own list',
  listTopups: 'own list',
  listVpnSubscriptions: 'own list',
  listCancellations: 'own list',
  listRefunds: 'own list',
  listEsims: 'own list',
  listAllShareLinks: 'own list',
  listCases: 'own list',
  listWebhookEndpoints: 'own list',
  listEvents: 'own events',
  streamEvents: 'own events',
  exportOrders: 'own file',
  exportTopups: 'own file',
  exportVpnSubscriptions: 'own file',
  exportCancellations: 'own file',
  createOrder: 'creates',
  createOrderBatch: 'creates',
  createTopup: 'creates',
  createVpnSubscription: 'creates',
  createWebhookEndpoint: 'creates',
  actOnManyOrders: 'changes own',
  actOnManyTopups: 'changes own',
  actOnManyVpnSubscriptions: 'changes own',
  actOnManyCancellations: 'changes own',
  createQuote: 'creates',
  getOwnKey: 'own key',
  listVpnPlans: 'same for all keys',
  getVpnPlan: 'same for all keys',
  listPackages: 'same for all keys',
  getPackage: 'same for all keys',
  getLatestUpdate: 'same for all keys',
};

/** The operations that require a key. */
export const guarded = ({ operations }: TestApi): Operation[] => operations.filter(({ scope }) => scope !== undefined);
/** The operations without an id that have this result for an own-work key. */
export const named = (
  api: TestApi,
  kind: 'own list' | 'own file' | 'own events' | 'changes own' | 'own key',
): Operation[] => guarded(api).filter(({ id }) => WITHOUT_ID[id] === kind);

/** The kind of the id in its path. */
export const idKind = ({ params }: Pick<Operation, 'params'>): unknown =>
  z.instanceof(z.ZodType).safeParse(params?.shape['id']).data?.meta()?.['x-kind'];
