/** Shows the admin API's overview every two seconds. */
import { byId, element, setChoices } from './dom.js';
import { TABLES, tableOf } from './tables.js';

const REFRESH_MS = 2_000;
/** @type {Record<string, any> | undefined} the overview shown last */
let shown;
/** @type {Map<string, string>} the content of each part of the page; an unchanged part is not rendered again */
const madeOf = new Map();

/**
 * Calls the admin API, shows the result, and refreshes the page.
 *
 * @param {string} path
 * @param {unknown} [body]
 * @param {string} [method]
 */
async function act(path, body = {}, method = 'POST') {
  try {
    const answer = await fetch(`/simulator${path}`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body ?? {}),
    });
    const problem = answer.ok ? undefined : await answer.json().then(describeProblem, () => `Answer ${answer.status}.`);
    showMessage(problem ?? `Done: ${path}`, problem !== undefined);
  } catch {
    showMessage('The simulator does not answer.', true);
  }
  await refresh();
}

/** @param {{ error: { message: string, fields?: Record<string, string> } }} body */
function describeProblem({ error: { message, fields = {} } }) {
  const details = Object.entries(fields).map(([name, problem]) => `${name}: ${problem}`);
  return [message, ...details].join(' ');
}

/**
 * @param {string} text
 * @param {boolean} failure
 */
function showMessage(text, failure) {
  const place = byId('message');
  place.textContent = text;
  place.className = failure ? 'failure' : '';
}

async function refresh() {
  const answer = await fetch('/simulator/overview').catch(() => undefined);
  if (answer === undefined || !answer.ok) {
    showMessage('The simulator does not answer.', true);
    return;
  }
  const overview = await answer.json();
  if (shown === undefined) prepareForms(overview.choices);
  shown = overview;
  show(overview);
}

/** @param {Record<string, any>} overview */
function show({ state, ...lists }) {
  const ahead = state.clock_ahead_ms === 0 ? '' : ` (${Math.round(state.clock_ahead_ms / 1_000)} s ahead)`;
  byId('clock').textContent = `${state.time.slice(0, 19).replace('T', ' ')} UTC${ahead}`;
  whenChanged('wallets', state.environments, () => {
    byId('wallets').replaceChildren(
      ...Object.entries(state.environments).map(([name, each]) => walletCard(name, each)),
    );
  });
  showSwitches(state);
  for (const name of Object.keys(TABLES)) {
    whenChanged(name, lists[name], () => byId(name).replaceChildren(tableOf(name, lists[name], act)));
  }
}

/**
 * Each switch is a part of its own: a change of one must not overwrite what a person is typing into another.
 *
 * @param {Record<string, any>} state
 */
function showSwitches(state) {
  whenChanged('dialect', state.dialect, () => (byId('dialect').value = state.dialect.name));
  whenChanged('shape', state.shape, () => (byId('shape').value = state.shape.name));
  whenChanged('fault-profile', state.fault_profile, () => (byId('fault-profile').value = state.fault_profile.name));
  whenChanged('approved', state.approved, () => (byId('approved').checked = state.approved));
  whenChanged('rate-limit', state.rate_limit, () => {
    byId('rate-limit').elements.requests.value = state.rate_limit.requests ?? '';
  });
}

/**
 * @param {string} part
 * @param {unknown} content
 * @param {() => void} make
 */
function whenChanged(part, content, make) {
  const text = JSON.stringify(content);
  if (madeOf.get(part) === text) return;
  madeOf.set(part, text);
  make();
}

/**
 * @param {string} name
 * @param {Record<string, any>} environment
 */
function walletCard(name, environment) {
  const counts = (/** @type {Record<string, number>} */ by) =>
    Object.entries(by)
      .map(([status, count]) => `${count} ${status}`)
      .join(', ') || 'none';
  const { ledger, webhook_url: url, webhook_secret: secret } = environment;
  const lines = [
    `${ledger.debits} debits, ${ledger.credits} credits, ${environment.requests} calls`,
    `Orders: ${counts(environment.orders)}. Top-ups: ${counts(environment.topups)}.`,
    `eSIMs: ${environment.esims}. Refunds: ${counts(environment.refunds)}. VPN: ${counts(environment.vpn_subscriptions)}.`,
    `Webhooks: ${counts(environment.deliveries)}; to ${url ?? 'no address'}${secret ? '' : ', no secret yet'}`,
  ];
  return element(
    'div',
    { className: 'card', id: `wallet-${name}` },
    element('div', {}, name),
    element('strong', {}, `${environment.balance} USD`),
    ...lines.map((line) => element('p', {}, line)),
  );
}

/** @param {Record<string, any>} choices */
function prepareForms(choices) {
  const words = (/** @type {string[]} */ list) => list.map((word) => /** @type {[string, string]} */ ([word, word]));
  for (const id of ['deposit', 'ping']) setChoices(byId(id).elements.environment, words(choices.environments));
  setChoices(byId('dialect'), words(choices.dialects));
  setChoices(byId('shape'), words(choices.shapes));
  setChoices(byId('fault-profile'), words(choices.fault_profiles));

  const fault = byId('add-fault').elements;
  const setFaultChoices = () => {
    const { subjects, kinds } = choices.faults[fault.target.value];
    setChoices(fault.subject, [['', 'any'], ...words(subjects)]);
    setChoices(fault.kind, words(kinds));
  };
  fault.target.addEventListener('change', setFaultChoices);
  setFaultChoices();

  const behaviour = byId('add-behaviour').elements;
  const setOutcomes = () => setChoices(behaviour.outcome, words(choices.outcomes[behaviour.operation.value]));
  setChoices(behaviour.operation, words(Object.keys(choices.outcomes)));
  behaviour.operation.addEventListener('change', setOutcomes);
  setOutcomes();
}

/** Kinds of fault that take a time in milliseconds. */
const TIMED = new Set(['latency', 'late', 'out_of_order']);

/** @param {string} text @returns {number | null} null: without end */
const countOf = (text) => (text.trim() === '' ? null : Number(text));

/**
 * @param {string} id
 * @param {(fields: Record<string, string>) => Promise<void>} send
 */
function onSubmit(id, send) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    void send(Object.fromEntries(new FormData(event.target)));
  });
}

onSubmit('deposit', ({ environment, amount }) => act('/deposits', { environment, amount }));
onSubmit('ping', ({ environment }) => act('/webhooks/ping', { environment }));
onSubmit('advance', ({ ms }) => act('/clock/advance', { ms: Number(ms) }));
onSubmit('rate-limit', ({ requests }) => act('/rate-limit', { requests: countOf(requests) }));
onSubmit('add-fault', ({ target, subject, kind, ms, count }) =>
  act('/faults', {
    target,
    ...(subject === '' ? {} : { [target === 'request' ? 'endpoint' : 'event']: subject }),
    fault: { kind, ...(TIMED.has(kind) ? { ms: Number(ms) } : {}) },
    count: countOf(count),
  }),
);
onSubmit('add-behaviour', ({ operation, outcome, count, delay_ms }) =>
  act('/behaviour', {
    operation,
    outcome,
    count: countOf(count),
    ...(delay_ms.trim() === '' ? {} : { delay_ms: Number(delay_ms) }),
  }),
);
byId('dialect').addEventListener('change', (event) => void act('/dialect', { name: event.target.value }));
byId('shape').addEventListener('change', (event) => void act('/shape', { name: event.target.value }));
byId('fault-profile').addEventListener('change', (event) => void act('/fault-profile', { name: event.target.value }));
byId('approved').addEventListener('change', (event) => void act('/approval', { approved: event.target.checked }));
byId('reset').addEventListener('click', () => {
  if (confirm('Forget all orders, money, rules and settings?')) void act('/reset');
});

/** Refreshes the page regularly, but not while it is hidden. */
async function keepFresh() {
  if (!document.hidden) await refresh();
  setTimeout(() => void keepFresh(), REFRESH_MS);
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void refresh();
});
void keepFresh();
