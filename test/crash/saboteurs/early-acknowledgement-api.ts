/** An API with a defect: it acknowledges a webhook before it is stored. */
import { InboxWriter } from '#fulfilment/reports/inbox-writer.ts';

const { prototype } = InboxWriter;
const { accept: store } = Object.getOwnPropertyDescriptors(prototype);
prototype.accept = async function accept(delivery) {
  store.value?.call(this, delivery).catch(() => undefined);
  return { kind: 'stored', conflict: 'none' };
};
await import('#test/crash/processes/api.ts');
