import { describe, expect, it } from 'vitest';
import { readApiConfig, readWorkerConfig } from '#config/config.ts';
import { parsePolicyFile, readPolicy, readPolicyFile } from '#config/policy/policy-file.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { PRODUCT_ENVIRONMENT, problemsOf } from '#test/support/product-environment.ts';
import { policyFile } from '#test/support/servers/policy-files.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const read = (text: string) => parsePolicyFile(text, 'policy.yaml').policy;
const problems = (text: string) => problemsOf(() => parsePolicyFile(text, 'policy.yaml'));

describe('the policy file', () => {
  it.each(['', '# only a comment', '{}', 'purchase:\nretry:\n  # hold_delay: 1s'])(
    'leaves each default unless it sets another value: %j',
    (text) => expect(read(text)).toEqual(DEFAULT_POLICY),
  );

  it('may be YAML or JSON', () => {
    const yaml =
      'retry:\n  max_attempts: 7 # more\nwatch: {data_low: [50%], expiring: []}\ngate: {spend_limit: 9.50 EUR}';
    const watch = { data_low: ['50%'], expiring: [] };
    const json = JSON.stringify({ retry: { max_attempts: 7 }, watch, gate: { spend_limit: '9.50 EUR' } });
    expect(read(yaml)).toEqual(read(json));
    expect(read(yaml)).toMatchObject({
      purchase: { maxAttempts: 7 },
      watch: { dataLow: [0.5], expiringMs: [] },
      gate: { spendLimit: { amount: '9.50', currency: 'EUR' } },
    });
  });

  it('counts for the API and the worker alike', () => {
    const POLICY_FILE = policyFile({ 'gate.spend_limit': '500.00 USD', 'waiting.max': '20s', 'retry.max_attempts': 2 });
    const environment = { ...PRODUCT_ENVIRONMENT, POLICY_FILE };
    const spendLimit = { amount: '500.00', currency: 'USD' };
    expect(readApiConfig(environment)).toMatchObject({ gate: { spendLimit }, waiting: { maxMs: 20_000 } });
    const { policy } = readWorkerConfig(environment);
    expect(policy).toMatchObject({ gate: { spendLimit }, purchase: { maxAttempts: 2 } });
  });

  it('must exist when POLICY_FILE names it', () => {
    const folder = temporaryFolder('policy');
    expect(problemsOf(() => readPolicyFile(`${folder}/none.yaml`))).toEqual([
      `POLICY_FILE: the file ${folder}/none.yaml does not exist`,
    ]);
    expect(problemsOf(() => readPolicy({ POLICY_FILE: folder }))).toEqual([
      `POLICY_FILE: the file ${folder} is a folder`,
    ]);
  });
});

describe('an error in the policy file is named with its place', () => {
  it.each([
    [
      'retry:\n  hold_delay: soon',
      'policy.yaml:2:15: retry.hold_delay: must be a duration such as 500ms, 20s, 10m, 24h',
    ],
    ['retry: {max_attempts: 21}', 'policy.yaml:1:23: retry.max_attempts: must be a whole number from 1 to 20'],
    ['cancellation: {refund_deadline: 93d}', 'policy.yaml:1:33: cancellation.refund_deadline: must be from 0ms to 92d'],
    // Node would run such a timer at once, and again and again.
    ['gate: {tick: 25d}', 'policy.yaml:1:14: gate.tick: must be from 100ms to 24d'],
    // Zero stays zero when it is doubled.
    ['retry: {hold_delay: 0s}', 'policy.yaml:1:21: retry.hold_delay: must be from 10ms to 3650d'],
    ['retry: {rules: {supplier_failed: {max_delay: 1ms}}}', expect.stringMatching(/must be from 10ms to /)],
    // Temporal reads a time limit of zero as none.
    ['purchase: {delivery_deadline: 0s}', 'policy.yaml:1:31: purchase.delivery_deadline: must be from 1s to 3650d'],
    [
      'gate: {spend_limit: 500}',
      'policy.yaml:1:21: gate.spend_limit: must be an amount with its currency, such as 500.00 USD',
    ],
    [
      'watch:\n  data_low: [20%, much]',
      'policy.yaml:2:19: watch.data_low.1: must be a list of up to five shares such as [20%, 5%]',
    ],
    [
      'watch: {expiring: none}',
      'policy.yaml:1:19: watch.expiring: must be a list of up to five durations such as [72h, 24h]',
    ],
    ['retry: 5', 'policy.yaml:1:8: retry: must be a map of settings'],
    ['- retry', 'policy.yaml:1:1: must be a map of groups'],
  ])('%s', (text, problem) => {
    expect(problems(text)).toEqual([problem]);
  });

  it('in its syntax', () => {
    expect(problems('retry:\n  max_attempts: 2\n  max_attempts: 3')).toEqual([
      'policy.yaml:3:3: Map keys must be unique',
    ]);
    expect(problems('retry: {')).toEqual([expect.stringMatching(/^policy\.yaml:1:9: /)]);
    // Every list repeats the one before it ten times: 10,000,000,000 values.
    const lists = Array.from({ length: 10 }, (_, n) => `a${n}: &a${n} [${`*a${n - 1},`.repeat(n === 0 ? 0 : 10)}1]`);
    expect(problems(lists.join('\n'))).toEqual(['policy.yaml:1:1: aliases repeat other parts of the file too often']);
    expect(problems('retry: !secret x')).toEqual([expect.stringMatching(/^policy\.yaml:1:8: Unresolved tag/)]);
  });

  it('all at once', () => {
    expect(problems('retry: {hold_delay: x, max_attempts: 0}\ncatalog: {}')).toHaveLength(3);
  });
});

describe('the longest of doubled waits', () => {
  it('is never shorter than the first', () => {
    const { outbound, purchase, gate } = read(
      'event_webhooks: {retry_delay_max: 0s, probe_delay_max: 0s}\n' +
        'purchase: {look_up_again_max: 0s, blocked_retry_max: 0s, missing_row_check_max: 0s}\n' +
        'gate: {circuit_probe_delay_max: 0s}',
    );
    expect(outbound.retryDelayMaxMs).toBe(outbound.retryDelayMs);
    expect(outbound.probeDelayMaxMs).toBe(outbound.retryDelayMs);
    expect(purchase.lookUpAgainMaxMs).toBe(purchase.lookUpAgainMs);
    expect(purchase.blockedRetryMaxMs).toBe(purchase.blockedRetryMs);
    expect(purchase.missingRowCheckMaxMs).toBe(purchase.missingRowCheckMs);
    expect(gate.probeDelayMaxMs).toBe(gate.probeDelayMs);
  });
});

describe('an unknown name', () => {
  it.each([
    ['retry:\n  hold_dealy: 1s', 'policy.yaml:2:3: retry.hold_dealy is not a setting; did you mean hold_delay?'],
    ['retries:\n  hold_delay: 1s', 'policy.yaml:1:1: retries is not a setting; did you mean retry?'],
    ['catalog: {every: 1m}', 'policy.yaml:1:1: catalog is not a setting; did you mean catalogue?'],
    [
      'purchase: {max_attempts: 2}',
      'policy.yaml:1:12: purchase.max_attempts is not a setting; did you mean retry.max_attempts?',
    ],
    ['max_attempts: 2', 'policy.yaml:1:1: max_attempts is not a setting; did you mean retry.max_attempts?'],
    ['relay: {zzz: 2}', 'policy.yaml:1:9: relay.zzz is not a setting; names here are poll, lease'],
  ])('is refused with the name that is probably meant: %s', (text, problem) => {
    expect(problems(text)).toEqual([problem]);
  });
});

describe('the tolerance of timestamps', () => {
  it.each(['1999ms', '301s'])('is no other than the specification allows, nor useless: %s', (tolerance) => {
    expect(problems(`service_webhooks: {timestamp_tolerance: ${tolerance}}`)).toEqual([
      'policy.yaml:1:41: service_webhooks.timestamp_tolerance: must be from 2s to 5m',
    ]);
  });
});

describe('values that contradict each other are refused', () => {
  it.each([
    [
      'purchase: {send_deadline: 30s}',
      'policy.yaml:1:1: purchase.send_lease: must be at least a second more than purchase.send_deadline: 31s',
    ],
    [
      'purchase: {send_deadline: 29001ms}',
      'policy.yaml:1:1: purchase.send_lease: must be at least a second more than purchase.send_deadline: 30001ms',
    ],
    [
      'purchase: {send_activity_timeout: 49s}',
      'policy.yaml:1:35: purchase.send_activity_timeout: must be at least purchase.send_deadline and ' +
        'purchase.send_lease together: 50s',
    ],
    [
      'event_webhooks: {lease: 15s}',
      'policy.yaml:1:25: event_webhooks.lease: must be more than event_webhooks.deadline',
    ],
    [
      'events: {kept: 3d}',
      'policy.yaml:1:16: events.kept: must be more than event_webhooks.retry_for: an event that is no longer ' +
        'stored cannot be sent',
    ],
    [
      'sweeper: {history_kept: 599s}',
      'policy.yaml:1:25: sweeper.history_kept: must be at least twice service_webhooks.timestamp_tolerance, 10m: a ' +
        'copy of a webhook is recognised by its stored report',
    ],
    [
      'service_webhooks: {timestamp_tolerance: 4s}\nsweeper: {history_kept: 7999ms}',
      'policy.yaml:2:25: sweeper.history_kept: must be at least twice service_webhooks.timestamp_tolerance, 8s: a ' +
        'copy of a webhook is recognised by its stored report',
    ],
  ])('%s', (text, problem) => {
    expect(problems(text)).toEqual([problem]);
  });
});
