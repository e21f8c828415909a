#!/usr/bin/env node
// Plain JavaScript: old releases of Node must read it before they stumble over TypeScript.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > 24 || (major === 24 && minor >= 12)) {
  await import('#cli/start/quick-start.mjs');
  await import('#cli/main.ts');
} else {
  process.stderr.write(
    `This is Node ${process.versions.node}, and 24.12 or later is needed.\n` +
      'Use `npm start` or `npx reseller …`, which take the Node that `npm ci` has installed beside the project.\n' +
      'If you did and still see this, run `npm ci --include=dev`: NODE_ENV=production would leave that Node out.\n' +
      'It must run the install script of the package `node`.\n',
  );
  process.exitCode = 1;
}
