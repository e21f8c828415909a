import { randomUUID } from 'node:crypto';
import { newId } from '#db/connection/ids.ts';
import { activationCodeAad } from '#db/encryption-aads.ts';
import { esims, orders } from '#db/schema.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';

/** The activation code of the eSIMs of these tests. */
export const SHARED_CODE = 'LPA:1$smdp.example.com$A1B2-C3D4-E5F6';

/** Stores a delivered eSIM of an order of this key. @returns its id. */
export async function sharedEsim(
  { database, keyRing }: Pick<TestApi, 'database' | 'keyRing'>,
  state: Partial<typeof esims.$inferInsert> = {},
  { code = SHARED_CODE, apiKeyId = 'key_test' } = {},
): Promise<string> {
  const [id, orderId] = [newId('esim'), newId('order')];
  await database.transaction(async (tx) => {
    await tx.insert(orders).values({ id: orderId, apiKeyId, externalOrderId: randomUUID(), packageId: 101 });
    await tx.insert(esims).values({
      id,
      orderId,
      serviceEsimId: randomUUID(),
      iccid: '8944500102198304826',
      packageId: 101,
      encryptedActivationCode: keyRing.encrypt(code, activationCodeAad(id)),
      status: 'available',
      readAt: new Date(TEST_NOW),
      ...state,
    });
  });
  return id;
}

/** Asks for a share link with a new Idempotency-Key. */
export const askForLink = (caller: HttpClient, esimId: string, body: object = {}) =>
  postOnce(caller, `/v1/esims/${esimId}/share-links`, body);

/** Makes a share link. @returns its id and its path with the secret. */
export async function makeLink(
  caller: HttpClient,
  esimId: string,
  body: object = {},
): Promise<{ readonly id: string; readonly path: string; readonly secret: string }> {
  const made = await askForLink(caller, esimId, body);
  const path = made.textAt('path');
  return { id: made.textAt('id'), path, secret: path.slice('/e/'.length) };
}
