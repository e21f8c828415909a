import { randomUUID } from 'node:crypto';
import { newId } from '#db/connection/ids.ts';
import { activationCodeAad } from '#db/encryption-aads.ts';
import { orders, type esims } from '#db/schema.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { storeEsim } from '#test/support/work/esim-rows.ts';

export const SHARED_CODE = 'LPA:1$smdp.example.com$A1B2-C3D4-E5F6';

/** Stores a delivered eSIM of an order of this key. @returns its id. */
export async function sharedEsim(
  { database, keyRing }: Pick<TestApi, 'database' | 'keyRing'>,
  state: Partial<typeof esims.$inferInsert> = {},
  { code = SHARED_CODE, apiKeyId = 'key_test' } = {},
): Promise<string> {
  const [id, orderId] = [newId('esim'), newId('order')];
  const encryptedActivationCode = keyRing.encrypt(code, activationCodeAad(id));
  const esim = { id, orderId, encryptedActivationCode, status: 'available', readAt: new Date(TEST_NOW) };
  return database.transaction(async (tx) => {
    await tx.insert(orders).values({ id: orderId, apiKeyId, externalOrderId: randomUUID(), packageId: 101 });
    return storeEsim(tx, { ...esim, ...state });
  });
}

export const askForLink = (caller: HttpClient, esimId: string, body: object = {}) =>
  postOnce(caller, `/v1/esims/${esimId}/share-links`, body);

/** Makes a share link. @returns its id and its path with the secret. */
export async function makeLink(caller: HttpClient, esimId: string, body: object = {}) {
  const made = await askForLink(caller, esimId, body);
  const path = made.textAt('path');
  return { id: made.textAt('id'), path, secret: path.slice('/e/'.length) };
}
