import { randomUUID } from 'node:crypto';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { esims } from '#db/schema.ts';

/** Stores a delivered eSIM. @returns its id. */
export async function storeEsim(
  tx: Executor,
  { id = newId('esim'), ...row }: Partial<typeof esims.$inferInsert> & { readonly orderId: string },
): Promise<string> {
  await tx.insert(esims).values({
    id,
    serviceEsimId: randomUUID(),
    iccid: '8944500102198304826',
    packageId: 101,
    encryptedActivationCode: Buffer.alloc(1),
    status: 'ready',
    readAt: new Date(),
    ...row,
  });
  return id;
}
