import type { KeyRing } from '#crypto/key-ring.ts';
import { activationCodeAad } from '#db/encryption-aads.ts';
import type { EsimRow } from '#db/work/rows.ts';
import { type Activation, parseLpaString } from '#domain/esims/activation.ts';

/** Decrypts the activation code of an eSIM. The caller audits the read. @throws Error when it is not readable. */
export function storedActivation(
  keyRing: KeyRing,
  { id, encryptedActivationCode }: Pick<EsimRow, 'id' | 'encryptedActivationCode'>,
): Activation {
  const activation = parseLpaString(keyRing.decryptText(encryptedActivationCode, activationCodeAad(id)));
  if (activation === undefined) throw new Error(`the stored activation code of ${id} is not one`);
  return activation;
}
