/** An API with a defect: it acknowledges a webhook before it is stored. */
import { InboxWriter } from '#fulfilment/reports/inbox-writer.ts';
import { watchApi } from '#test/crash/processes/watched-api.ts';

const { prototype } = InboxWriter;
const { accept: store } = Object.getOwnPropertyDescriptors(prototype);
prototype.accept = async function accept(delivery) {
  store.value?.call(this, delivery).catch(() => undefined);
  return { kind: 'stored', conflict: 'none' };
};
watchApi();
await import('#api/main.ts');
