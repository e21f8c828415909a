# One image for every process; the command chooses which (api/main.ts, worker/main.ts, platform/temporal/codec-server-main.ts,
# simulator/main.ts, or cli/main.ts migrate). Node runs the TypeScript without a build; only the workflows are bundled,
# because they run in a sandbox.

FROM node:24.21.0-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The Temporal SDK includes native code for five platforms; the image keeps its own platform.
RUN npm ci --omit=dev --no-audit --no-fund \
  && cd node_modules/@temporalio/core-bridge/releases \
  && find . -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -rf {} +

FROM node:24.21.0-slim
# Limits far above normal use. They make V8 and the C library return freed memory.
ENV NODE_ENV=production NODE_OPTIONS="--max-semi-space-size=16 --max-old-space-size=256" MALLOC_ARENA_MAX=2
WORKDIR /app
# The native client of Temporal trusts the certificates of the system, and the slim image has none.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
# A named volume gets the owner of this folder.
RUN install -d -o node -g node /var/lib/simulator
COPY --from=dependencies /app/node_modules node_modules
# .dockerignore lists the included files.
COPY . .
# The files of a checkout with umask 077 are for its owner only: the user of the image must be able to read them.
RUN node worker/build-bundle.ts /app/workflows.js \
  && find . -path ./node_modules -prune -o ! -perm -o=r -exec chmod go+rX {} +
ENV WORKFLOW_BUNDLE=/app/workflows.js
USER node
CMD ["node", "api/main.ts"]
