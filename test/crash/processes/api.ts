import { watchApi } from '#test/crash/processes/watched-api.ts';

watchApi();
await import('#api/main.ts');
