/** Every filter of every list of the API, with included and excluded rows. A new filter without a row here fails. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Operation } from '#api/http/operation.ts';
import { newId } from '#db/connection/ids.ts';
import { events, inbox } from '#db/schema.ts';
import type { CatalogueItem } from '#domain/catalogue/catalogue.ts';
import { deadLetterId } from '#fulfilment/operator/dead-letters.ts';
import { apiOfFile } from '#test/integration/api/support.ts';
import { readStream } from '#test/support/network/event-stream.ts';
import { recordCatalogue, SAMPLE_PACKAGE, SAMPLE_PLAN } from '#test/support/work/catalogue.ts';
import { ACTOR, BETWEEN, CUSTOMER, ICCID, IDS, LETTERS, writeListedRows } from '#test/support/work/listed-rows.ts';
import type { Letter } from '#test/support/work/listed-rows.ts';

const eur = (amount: string) => ({ amount, currency: 'EUR' });

const { api, caller } = await apiOfFile();
await writeCatalogue();
const wallet = await writeListedRows(api);
/** The letters of rows by their id in the list: X is neither A nor B. Packages and plans have ids of the service. */
const letters = new Map(Object.entries({ 101: 'A', 102: 'B', 103: 'X', 301: 'A', 302: 'B', 303: 'X' }));
letters.set(IDS.rule.ended, 'X').set(IDS.pause.ended, 'X').set(wallet.movement, 'X');
const { movement: _movement, ...named } = IDS;
for (const letter of LETTERS) {
  letters.set(await quarantinedReport(letter), letter);
  for (const each of Object.values({ ...named, journal: wallet.journal })) letters.set(each[letter], letter);
}

/** An unreadable report of the service. @returns its id as a dead letter. */
async function quarantinedReport(letter: Letter): Promise<string> {
  const bytes = Buffer.from(`report ${letter}`);
  const stored = { bodyHash: bytes, signedHash: bytes, encryptedBody: bytes, note: 'A test.' };
  const report = { source: 'webhook', deliveryId: `quarantined-${letter}`, state: 'quarantined', ...stored } as const;
  const [row] = await api.database.run((db) => db.insert(inbox).values(report).returning({ id: inbox.id }));
  return deadLetterId('inbox', row!.id);
}

/** Two readings: the second shows a change of A, and lacks X. */
async function writeCatalogue(): Promise<void> {
  const { database } = api;
  const unsold = { ...SAMPLE_PACKAGE, price: eur('3.455'), available: false };
  const japan = { ...unsold, id: 102, name: 'Japan 1 GB', countries: ['JP'], dataMb: 1_024, days: 7 };
  const packages = [{ ...SAMPLE_PACKAGE, id: 101 }, japan];
  const year = { ...SAMPLE_PLAN, id: 302, name: 'VPN, one year', days: 365, price: eur('24'), available: false };
  const plans = [{ ...SAMPLE_PLAN, id: 301 }, year];
  const changed = Date.parse(BETWEEN.changed);
  const first = new Date(changed - 1);
  await recordCatalogue(database, 'packages', [...packages, { ...SAMPLE_PACKAGE, id: 103 }].map(earlier), first);
  await recordCatalogue(database, 'vpn_plans', [...plans, { ...SAMPLE_PLAN, id: 303 }].map(earlier), first);
  const second = new Date(changed + 1);
  await recordCatalogue(database, 'packages', packages, second);
  await recordCatalogue(database, 'vpn_plans', plans, second);
  // The feed has only the events that are written below.
  await database.run((db) => db.delete(events));
}

/** An item before its price changed, if it is available at the end. */
function earlier<Item extends CatalogueItem>(item: Item): Item {
  return item.available ? { ...item, price: eur('1') } : item;
}

/** The listed rows by filter value. */
type Filter = Readonly<Record<string, string>>;

/** One value for A and one for B. */
const ofBoth = (values: Readonly<Record<Letter, string>>): Filter => ({ [values.A]: 'A', [values.B]: 'B' });

const MADE = { created_after: { [BETWEEN.made]: 'A' }, created_before: { [BETWEEN.made]: 'B' } };
const TIMES = { ...MADE, updated_after: { [BETWEEN.changed]: 'A' } };
const OF_WORK = {
  status: { held: 'A', needs_attention: 'B', 'abandoned,held': 'A', 'held,needs_attention': 'AB', abandoned: '' },
  failure_class: { timeout: 'A', not_sent: 'B', connection_lost: '' },
  attention: { outcome_unknown: 'A', contradiction: 'B', contract_drift: '' },
  created_by: ofBoth(IDS.key),
  metadata: { 'row=A': 'A', 'row=B': 'B', 'test=filters': 'AB', 'row=C': '', 'test=': '', 'row.A=A': '' },
  ...TIMES,
};
const CUSTOMERS = { customer_reference: ofBoth(CUSTOMER) };
/** Lists of some values. */
const several = (values: Readonly<Record<Letter, string>>, none: string): Filter => ({
  ...ofBoth(values),
  [`${values.A},${values.B}`]: 'AB',
  [`${none},${values.B},${values.B}`]: 'B',
  [none]: '',
});
const PACKAGES = { 101: 'A', 102: 'B', 103: '' };
const EVENTS = {
  type: { 'order.held': 'A', 'esim.*': 'B', 'order.*,esim.expiring': 'AB' },
  subject_id: ofBoth({ A: IDS.order.A, B: IDS.esim.B }),
  subject_kind: { order: 'A', esim: 'B', wallet: '' },
};

/** By operation, every filter with some of its values. Without a filter, all lists show A and B. */
const LISTS: Readonly<Record<string, Readonly<Record<string, Filter>>>> = {
  listOrders: {
    id: several(IDS.order, newId('order')),
    external_order_id: several({ A: 'order-A', B: 'order-B' }, 'order-C'),
    ...CUSTOMERS,
    package_id: PACKAGES,
    esim_id: ofBoth(IDS.esim),
    batch_id: ofBoth(IDS.batch),
    ...OF_WORK,
  },
  listOrderBatches: {
    external_batch_id: ofBoth({ A: 'batch-A', B: 'batch-B' }),
    status: { in_progress: 'A', completed: 'B', 'in_progress,completed': 'AB' },
    created_by: ofBoth(IDS.key),
    ...MADE,
  },
  listTopups: {
    id: several(IDS.topup, newId('topup')),
    esim_id: ofBoth(IDS.esim),
    external_topup_id: several({ A: 'topup-A', B: 'topup-B' }, 'topup-C'),
    ...CUSTOMERS,
    package_id: PACKAGES,
    ...OF_WORK,
  },
  listCancellations: {
    id: several(IDS.cancellation, newId('cancellation')),
    esim_id: ofBoth(IDS.esim),
    ...CUSTOMERS,
    ...OF_WORK,
  },
  listVpnSubscriptions: {
    id: several(IDS.vpn, newId('vpn_subscription')),
    external_subscription_id: several({ A: 'vpn-A', B: 'vpn-B' }, 'vpn-C'),
    vpn_plan_id: PACKAGES,
    ...CUSTOMERS,
    ...OF_WORK,
  },
  listRefunds: { status: { expected: 'A', failed: 'B', 'expected,failed': 'AB' }, esim_id: ofBoth(IDS.esim), ...TIMES },
  listEsims: {
    status: { installed: 'A', active: 'B', 'installed,active': 'AB' },
    id: several(IDS.esim, newId('esim')),
    order_id: ofBoth(IDS.order),
    external_order_id: several({ A: 'order-A', B: 'order-B' }, 'order-C'),
    ...CUSTOMERS,
    iccid: ofBoth(ICCID),
    package_id: PACKAGES,
    ...TIMES,
  },
  listDeadLetters: { queue: { inbox: 'AB', outbox: '' } },
  listCases: {
    reason: { outcome_unknown: 'A', contradiction: 'B', contract_drift: '' },
    work_ended: { true: '', false: 'AB' },
  },
  listEvents: { ...EVENTS, created_after: { [BETWEEN.made]: 'A' } },
  listAllShareLinks: { status: { active: 'A', revoked: 'B', expired: '' }, created_by: ofBoth(IDS.key) },
  listWebhookEndpoints: { created_by: ofBoth(IDS.key) },
  listWebhookDeliveries: { status: { pending: 'A', failed: 'B', delivered: '' }, event_id: ofBoth(IDS.event) },
  listWalletTransactions: {
    cause: { attempt: 'A', refund: 'B', deposit: '', none: 'X' },
    direction: { debit: 'A', credit: 'B' },
    order_id: ofBoth(IDS.order),
    esim_id: ofBoth(IDS.esim),
    ...MADE,
  },
  listAuditLog: {
    actor: ofBoth(ACTOR),
    action: { 'order.retry': 'A', 'esim.qr_revealed': 'B' },
    subject_kind: { order: 'A', esim: 'B', api_key: '' },
    subject_id: ofBoth({ A: IDS.order.A, B: IDS.esim.B }),
    ...MADE,
  },
  listPackages: {
    q: { europe: 'A', JAPAN: 'B', GB: 'AB', Asia: '' },
    region: { europe: 'A', asia: 'B', africa: '' },
    country: { FR: 'A', 'DE,FR': 'A', JP: 'B', 'FR,JP': '', IT: '' },
    available: { true: 'A', false: 'B' },
    unlimited: { false: 'AB', true: '' },
    min_data_mb: { 5120: 'A', 1024: 'AB' },
    max_data_mb: { 1024: 'B', 5120: 'AB' },
    min_days: { 30: 'A', 7: 'AB' },
    max_days: { 7: 'B', 30: 'AB' },
    currency: { EUR: 'AB', USD: '' },
    min_price: { '9.8': 'A', '3.455': 'AB' },
    max_price: { '3.455': 'B', 9.8: 'AB' },
    updated_after: { [BETWEEN.changed]: 'A' },
    include_removed: { false: 'AB', true: 'ABX' },
  },
  listVpnPlans: {
    q: { month: 'A', YEAR: 'B', VPN: 'AB', Asia: '' },
    available: { true: 'A', false: 'B' },
    min_days: { 31: 'B', 30: 'AB' },
    max_days: { 30: 'A', 365: 'AB' },
    currency: { EUR: 'AB', USD: '' },
    min_price: { '3.21': 'B', '3.2': 'AB' },
    max_price: { '3.20': 'A', 24: 'AB' },
    updated_after: { [BETWEEN.changed]: 'A' },
    include_removed: { false: 'AB', true: 'ABX' },
  },
  listPauses: {
    kind: { order: 'A', topup: 'B' },
    failure_class: { timeout: 'A', not_sent: 'B' },
    ended: { false: 'AB', true: 'ABX' },
  },
  listReconciliations: {
    status: { complete: 'A', unavailable: 'B', 'complete,unavailable': 'AB', unsupported: '' },
    ...MADE,
  },
  listPricingRules: {
    target: { package: 'A', country: 'B', default: '' },
    currency: { EUR: 'A', USD: 'B' },
    ended: { false: 'AB', true: 'ABX' },
  },
};

/** Of events. Two that contradict each other are refused. */
const OF_SUBJECTS = new Set(['type', 'subject_kind']);
/** Parameters of the page and its order, not of its content. */
const PAGING = new Set(['limit', 'cursor', 'wait', 'sort', 'expand']);

const filtersOf = ({ query }: Operation) => Object.keys(query?.shape ?? {}).filter((name) => !PAGING.has(name));
const listed = () => api.operations.filter(({ query }) => query?.shape['cursor'] !== undefined);
const idShown = z.union([z.string(), z.number().transform(String)]).optional();
const page = z.object({ data: z.array(z.looseObject({ id: idShown })) });

/** The letters of the listed rows, in alphabetical order. */
async function shown(id: string, query: [string, string][]): Promise<string> {
  const path = api.operations.find((each) => each.id === id)!.path.replace('{id}', IDS.endpoint.A);
  const answer = await caller.get(`${path}?${new URLSearchParams(query.map(written)).toString()}`);
  if (answer.status !== 200) throw new Error(`${id} ${JSON.stringify(query)}: ${answer.text}`);
  // Entries of the audit log have no id.
  const found = answer.read(page).data.map((each) => letters.get(each.id ?? String(each['subject_id'])) ?? '?');
  return found.toSorted().join('');
}

/** A pair is a parameter of its own. */
function written([name, value]: [string, string]): [string, string] {
  const [key, ...rest] = value.split('=');
  return name === 'metadata' ? [`metadata[${key}]`, rest.join('=')] : [name, value];
}

/** The value by which a filter lists only this row. */
const only = (letter: Letter, filter: Filter = {}) => Object.entries(filter).find(([, rows]) => rows === letter)?.[0];

describe('every list of the API', () => {
  it('has its filters in the table of this test, each with a value that changes the list', () => {
    const withFilters = listed().filter((operation) => filtersOf(operation).length > 0);
    const expected = withFilters.map((operation) => [operation.id, filtersOf(operation).toSorted()]);
    // The stream has the filters of the feed, and starts at its cursor.
    const cases = Object.entries({ ...LISTS, streamEvents: EVENTS });
    const tested = cases.map(([id, filters]) => [id, Object.keys(filters).toSorted()]);
    expect(Object.fromEntries(tested)).toEqual(Object.fromEntries(expected));
    for (const [id, filters] of cases)
      for (const [name, filter] of Object.entries(filters))
        expect([id, name, Object.values(filter).every((rows) => rows === 'AB')]).toEqual([id, name, false]);
    expect(listed().length).toBeGreaterThan(20);
  });
});

describe('a filtered list', () => {
  it.each(Object.entries(LISTS))('of %s contains exactly the rows that each filter selects', async (id, filters) => {
    expect(await shown(id, [])).toBe('AB');
    for (const [name, filter] of Object.entries(filters))
      for (const [value, rows] of Object.entries(filter))
        expect([name, value, await shown(id, [[name, value]])]).toEqual([name, value, rows]);
  });

  it.each(Object.entries(LISTS).filter(([, filters]) => Object.keys(filters).length > 1))(
    'of %s contains the rows that match all given filters',
    async (id, filters) => {
      const ofA = Object.entries(filters).flatMap(([name, filter]): [string, string][] => {
        const value = only('A', filter);
        return value === undefined ? [] : [[name, value]];
      });
      expect([ofA, await shown(id, ofA)]).toEqual([ofA, 'A']);
      // One filter excludes A, all others select it. A filter that is ignored among others shows A.
      for (const [name, filter] of Object.entries(filters)) {
        const others = ofA.filter(([each]) => each !== name && !(OF_SUBJECTS.has(each) && OF_SUBJECTS.has(name)));
        if (others.length === 0) continue;
        for (const value of Object.keys(filter).filter((each) => /^B?$/.test(filter[each] ?? ''))) {
          const query = [...others, [name, value] satisfies [string, string]];
          expect([query, await shown(id, query)]).toEqual([query, '']);
        }
      }
    },
  );
});

describe('a flag', () => {
  it('accepts only true and false', async () => {
    for (const value of ['yes', '1', 'True', '']) {
      const refused = await caller.get(`/v1/packages?available=${value}`);
      expect([value, refused.status, refused.text.includes('must be true or false')]).toEqual([value, 400, true]);
    }
  });
});

describe('a filtered stream', () => {
  it.each(Object.entries(EVENTS))('by %s sends only the selected events', async (name, filter) => {
    const beginning = Buffer.from('v.0').toString('base64url');
    const query = new URLSearchParams({ cursor: beginning, [name]: only('A', filter) ?? '' });
    // A is newer, so a reader that gets A first has not received B.
    const stream = await readStream(caller, `/v1/events/stream?${query.toString()}`);
    expect((await stream.next(1)).map(({ data }) => data['id'])).toEqual([IDS.event.A]);
    stream.close();
  });
});
