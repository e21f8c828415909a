import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SERVER_VERSIONS } from '#cli/embedded/tool.ts';
import { composeService, PROJECT } from '#test/support/compose.ts';

const { temporal_server: server, temporal_ui: ui, temporal_cli: cli, postgres } = SERVER_VERSIONS;
const goModule = (name: string) => readFileSync(join(PROJECT, 'ops', name, 'go.mod'), 'utf8');

describe('the versions of the servers in ops/versions.json', () => {
  it.each([
    ['temporal', `temporalio/server:${server}`],
    ['temporal-schema', `temporalio/admin-tools:${server}`],
    ['temporal-ui', `temporalio/ui:${ui}`],
    ['postgres', `postgres:${postgres}`],
  ])('are those of the service %s of compose', (service, image) => {
    expect(composeService(service).image).toBe(image);
  });

  it.each([
    ['temporal-server', `go.temporal.io/server v${server}`],
    ['temporal-server', `github.com/temporalio/ui-server/v2 v${ui}`],
    ['temporal-cli', `github.com/temporalio/cli v${cli}`],
  ])('are those that ops/%s builds: %s', (module, line) => {
    expect(goModule(module)).toContain(line);
  });
});
