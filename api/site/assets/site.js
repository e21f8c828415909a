// Colours and search of the documentation site. The colour mode is the one that the reference stores.
(() => {
  const docs = document.currentScript.dataset.docs;
  const root = document.documentElement;
  const MODES = ['system', 'light', 'dark'];
  const stored = () => {
    const mode = localStorage.getItem('colorMode');
    return MODES.includes(mode) ? mode : 'system';
  };
  const show = (mode) => {
    if (mode === 'system') delete root.dataset.mode;
    else root.dataset.mode = mode;
  };
  show(stored());

  function addModeButton() {
    // The reference has its own switch.
    if (document.getElementById('reference') !== null) return;
    const button = document.createElement('button');
    button.className = 'mode';
    button.textContent = '◐';
    const name = () => (button.title = button.ariaLabel = `Colours: ${stored()}`);
    button.addEventListener('click', () => {
      const next = MODES[(MODES.indexOf(stored()) + 1) % MODES.length];
      localStorage.setItem('colorMode', next);
      show(next);
      name();
    });
    name();
    document.querySelector('header.bar').append(button);
  }

  /** Closes the menu on narrow screens, where it would hide the text. */
  function closeMenu() {
    if (matchMedia('(max-width: 60rem)').matches) document.querySelector('details.menu')?.removeAttribute('open');
  }

  let entries;
  const readEntries = () => (entries ??= fetch(`${docs}/assets/search.json`).then((answer) => answer.json()));

  /** Entries with most of the words, those with words in the title first. Codes of errors come last, unless asked for. */
  function found(all, text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const count = (content) => words.filter((word) => content.toLowerCase().includes(word)).length;
    const order = ({ title, code }) => (code ? (title === words.join('_') ? 0 : 2) : 1);
    return all
      .map((entry) => ({ ...entry, rank: 2 * count(entry.title) + count(`${entry.where} ${entry.text}`) }))
      .filter(({ rank }) => rank >= words.length)
      .toSorted((left, right) => (right.where === 'Guide') - (left.where === 'Guide'))
      .toSorted((left, right) => order(left) - order(right) || right.rank - left.rank)
      .slice(0, 12);
  }

  function addSearch(box) {
    const [input, list] = box.children;
    input.addEventListener('input', async () => {
      const all = await readEntries();
      const hits = input.value.trim() === '' ? [] : found(all, input.value);
      list.hidden = input.value.trim() === '';
      list.replaceChildren(
        ...hits.map(({ title, where, href }) => {
          const item = document.createElement('li');
          const link = document.createElement('a');
          link.href = `${docs}/${href}`;
          link.textContent = title;
          const place = document.createElement('small');
          place.textContent = where;
          link.append(place);
          item.append(link);
          return item;
        }),
      );
      if (hits.length === 0) list.textContent = 'Nothing was found.';
    });
  }

  /** A button that copies a sample; of a console, only what is typed. */
  function addCopyButton(sample) {
    const text = sample.textContent.trimEnd();
    const typed = text.match(/^\$ (?:.*\\\n)*.*/gm)?.map((each) => each.slice(2));
    const frame = document.createElement('div');
    frame.className = 'sample';
    const button = document.createElement('button');
    button.className = 'copy';
    button.textContent = 'Copy';
    const copied = () => {
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 2000);
    };
    button.addEventListener('click', () => void navigator.clipboard.writeText(typed?.join('\n') ?? text).then(copied));
    sample.replaceWith(frame);
    frame.append(sample, button);
  }

  document.addEventListener('DOMContentLoaded', () => {
    // Without https there is no clipboard, except on this machine.
    if (navigator.clipboard) for (const sample of document.querySelectorAll('main pre')) addCopyButton(sample);
    addModeButton();
    closeMenu();
    for (const box of document.querySelectorAll('.search')) addSearch(box);
  });
})();
