/** An API with one thing wrong: it acknowledges a webhook before it is stored. The checks must notice. */
import { createApp } from '#api/app.ts';
import { createApiParts } from '#api/parts.ts';
import { startServer } from '#api/server.ts';
import { readApiConfig } from '#config/config.ts';

const config = readApiConfig();
const { dependencies, state } = createApiParts(config);
const app = createApp({
  ...dependencies,
  intake: {
    accept: async (delivery) => {
      dependencies.intake.accept(delivery).catch(() => undefined);
      return { kind: 'stored', conflict: 'none' };
    },
  },
});
await startServer(app, config);
state.closedBecause = undefined;
