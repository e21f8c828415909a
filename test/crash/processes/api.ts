import { watchApi } from '#test/crash/processes/instrument.ts';

watchApi();
await import('#api/main.ts');
