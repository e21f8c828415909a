// Health check of a container: `node ops/container/health-check.mjs URL` ends with 0 when the URL answers 2xx.
const answer = await fetch(process.argv[2], { signal: AbortSignal.timeout(3_000) });
if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
