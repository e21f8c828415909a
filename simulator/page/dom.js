/** Elements are made from text, never from markup: received data may contain scripts. */

/**
 * @param {string} tag
 * @param {Record<string, unknown>} properties set on the element
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * Replaces the choices of a select and keeps what is chosen, where it is still there.
 *
 * @param {HTMLSelectElement} select
 * @param {readonly (readonly [string, string])[]} choices value and text
 */
export function setChoices(select, choices) {
  const chosen = select.value;
  select.replaceChildren(...choices.map(([value, text]) => element('option', { value }, text)));
  if (choices.some(([value]) => value === chosen)) select.value = chosen;
}

const GOOD = new Set(['completed', 'delivered', 'active', 'accepted', 'installed', 'available']);
const BAD = new Set(['failed', 'exhausted', 'lost', 'refused', 'expired', 'cancelled', 'no_target']);

/**
 * The name of a state, coloured by its meaning.
 *
 * @param {string | null} state
 * @returns {HTMLElement}
 */
export function stateName(state) {
  const text = state ?? '–';
  return element('span', { className: GOOD.has(text) ? 'good' : BAD.has(text) ? 'bad' : 'open' }, text);
}

/**
 * A table, or the text `None.` without rows.
 *
 * @param {readonly string[]} headings
 * @param {readonly (readonly (Node | string)[])[]} rows
 * @returns {HTMLElement}
 */
export function table(headings, rows) {
  if (rows.length === 0) return element('p', { className: 'none' }, 'None.');
  const head = element('tr', {}, ...headings.map((text) => element('th', { scope: 'col' }, text)));
  const body = rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, cell))));
  return element('table', {}, element('thead', {}, head), element('tbody', {}, ...body));
}
