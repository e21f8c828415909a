# One image for every process; the command chooses which (api/main.ts, worker/main.ts, temporal/codec-server-main.ts,
# simulator/main.ts, or cli/main.ts migrate). Node runs the TypeScript as it is; only the workflows are bundled, for the
# sandbox that they run in.

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The Temporal SDK carries its native part for five platforms; the image needs the one it runs on.
RUN npm ci --omit=dev --no-audit --no-fund \
  && cd node_modules/@temporalio/core-bridge/releases \
  && find . -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -rf {} +

FROM node:24-slim
# Bounds far above what a process keeps, so that V8 and the C library do not hold on to freed memory: the worker stays
# at 270 MB instead of 380.
ENV NODE_ENV=production NODE_OPTIONS="--max-semi-space-size=4 --max-old-space-size=192" MALLOC_ARENA_MAX=2
WORKDIR /app
# A named volume takes its owner from here.
RUN install -d -o node -g node /var/lib/simulator
COPY --from=dependencies /app/node_modules node_modules
# What of the tree goes in is listed in .dockerignore.
COPY . .
RUN node worker/build-bundle.ts /app/workflows.js
ENV WORKFLOW_BUNDLE=/app/workflows.js
USER node
CMD ["node", "api/main.ts"]
