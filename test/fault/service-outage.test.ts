import { and, inArray, isNull } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { attempts, cases } from '#db/schema.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { DialectName } from '#simulator/behaviour/dialect.ts';
import { Outage } from '#test/fault/outage.ts';
import type { ProcessSettings } from '#test/support/servers/policy-files.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';

/** Pieces of work in the first scenario. A longer proof: `OUTAGE_PIECES=200`. */
const PIECES = Number(process.env['OUTAGE_PIECES'] ?? '40');

/**
 * Every window ends while the test waits for all work to be held or to need attention. The deadline of a hold is
 * longer.
 */
const SCALED = {
  'purchase.resend_window': '2s',
  'purchase.delivery_deadline': '8s',
  'purchase.silent_deadline': '8s',
  'purchase.look_up_again': '500ms',
  'purchase.look_up_again_max': '1s',
  'vpn_subscription.cancel_check': '500ms',
  'retry.hold_deadline': '1h',
} as const;

/** No circuit opens, so every purchase is sent and as many as possible are unknown. */
const NO_CIRCUIT = { 'gate.circuit_failures': 1000 } as const;

const NO_LOOK_UP = [
  'key_replay',
  'order_read',
  'order_list',
  'wallet_transactions',
  'public_packages',
  'esim_usage',
  'topup_read',
  'topup_list',
  'refund_read',
  'refund_list',
  'vpn_subscription_read',
  'vpn_subscription_list',
].join(',');

interface Scenario {
  readonly name: string;
  readonly dialect: DialectName;
  readonly pieces: number;
  readonly environment: ProcessSettings;
  /** Allowed reasons of cases at the end. Empty: all work completes without an operator. */
  readonly persons: readonly AttentionReason[];
}

const SMALL = 18;
const SCENARIOS: readonly Scenario[] = [
  { name: 'a service that replays keys', dialect: 'replays', pieces: PIECES, environment: NO_CIRCUIT, persons: [] },
];

/** Run with `OUTAGE_SERVICES=all`, because each takes some minutes. */
const OTHER_SERVICES: readonly Scenario[] = [
  { name: 'the same behind the circuit', dialect: 'replays', pieces: SMALL, environment: {}, persons: [] },
  {
    name: 'a service that refuses keys it knows',
    dialect: 'conflicts',
    pieces: SMALL,
    environment: NO_CIRCUIT,
    persons: [],
  },
  {
    name: 'a service without single reads of orders',
    dialect: 'no_order_read',
    pieces: SMALL,
    environment: { ...NO_CIRCUIT, SERVICE_MISSING_CAPABILITIES: 'order_read' },
    persons: [],
  },
  // Nothing may be sent twice, because a purchase that is not listed may still be in progress.
  {
    name: 'a service that knows no keys',
    dialect: 'ignores_keys',
    pieces: SMALL,
    environment: { ...NO_CIRCUIT, SERVICE_MISSING_CAPABILITIES: 'key_replay' },
    persons: ['outcome_unknown'],
  },
  // No resend and no look-up is possible, and no wallet proves that a failure cost nothing.
  {
    name: 'a service with the documented calls only',
    dialect: 'bare',
    pieces: SMALL,
    environment: { ...NO_CIRCUIT, SERVICE_MISSING_CAPABILITIES: NO_LOOK_UP },
    persons: [
      'outcome_unknown',
      'evidence_unavailable',
      'delivery_unavailable',
      'refund_missing',
      'cancellation_refused',
    ],
  },
];

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
});

describe('an outage of the service that is longer than every window', () => {
  it.each(process.env['OUTAGE_SERVICES'] === 'all' ? [...SCENARIOS, ...OTHER_SERVICES] : SCENARIOS)(
    'of $name pays nothing twice, and opens cases only for unavoidable reasons',
    async ({ dialect, pieces, environment, persons }) => {
      const running = await startStack({
        environment: { ...SCALED, ...environment },
        simulator: { SIMULATOR_PROCESSING_DELAY: '3s' },
      });
      stack = running;
      const outage = new Outage(running, pieces);
      await outage.begin(dialect);
      const interrupted = await outage.isLong();
      expect(interrupted.length).toBeGreaterThanOrEqual(pieces / 2);
      const left = await outage.end(persons);

      for (const { id } of left) outage.desk.expectUnsettled(id);
      // `end` waits for this, too: no case has another reason.
      expect(left.filter(({ attentionReason }) => !persons.some((reason) => reason === attentionReason))).toEqual([]);
      await outage.desk.checkBooks();
      // Cases that close by themselves are closed after the outage.
      const openCases = await running.database.run((db) =>
        db
          .select()
          .from(cases)
          .where(and(isNull(cases.closedAt), inArray(cases.reason, ['service_not_answering', 'stalled']))),
      );
      expect(openCases).toEqual([]);
      const rows = await running.database.run((db) => db.select().from(attempts));
      // No second attempt without a failure that the service reported for the first.
      for (const { subjectId, number } of rows.filter((row) => row.number > 1)) {
        expect(rows.find((row) => row.subjectId === subjectId && row.number === number - 1)).toMatchObject({
          state: 'failed',
          settled: true,
        });
      }
    },
  );
});
