// All trials of a report: filtered, sorted and shown a window at a time, from the data that stands in the page. Texts are put in as texts, never as markup.
(() => {
  const WINDOW = 100;
  const COLUMNS = ['ordinal', 'result', 'case', 'schedule', 'agent', 'repetition', 'category', 'forbidden', 'unknowns', 'calls', 'wallMs'];
  const NUMBERS = ['ordinal', 'repetition', 'forbidden', 'unknowns', 'calls', 'wallMs'];
  const byId = (id) => document.getElementById(id);

  const { prefix, texts, results, members, rows } = JSON.parse(byId('data').textContent);
  const order = results.map(([result]) => result);
  const place = Object.fromEntries(members.map((member, at) => [member, at]));
  const TEXTS = ['case', 'schedule', 'agent', 'result', 'ending', 'category', 'severity', 'tags', 'spent', 'why', 'evidence'];
  const value = (row, member) => {
    if (member === 'trial') return prefix + row[place.trial];
    return TEXTS.includes(member) ? texts[row[place[member]]] : row[place[member]];
  };

  const filters = document.querySelector('.filters');
  const fields = [...filters.querySelectorAll('input, select')];
  const body = byId('trial-rows');
  const heads = [...document.querySelectorAll('#trial-table th[data-sort]')];
  let sorted = { by: null, down: false };
  let found = rows;
  let first = 0;

  function matching() {
    const text = fields
      .find(({ name }) => name === 'text')
      .value.trim()
      .toLowerCase();
    const chosen = fields.filter(({ name, value: wanted }) => name !== 'text' && wanted !== '').map(({ name, value: wanted }) => ({ name, wanted }));
    return rows.filter((row) => {
      for (const { name, wanted } of chosen) {
        const own = value(row, name);
        if (name === 'tags' ? !own.split(' ').includes(wanted) : wanted === '!pass' ? own === 'pass' : own !== wanted) return false;
      }
      if (text === '') return true;
      return ['trial', 'case', 'schedule', 'agent', 'ending', 'category', 'tags', 'why'].some((member) => value(row, member).toLowerCase().includes(text));
    });
  }

  function inOrder(list) {
    const { by, down } = sorted;
    if (by === null) return list;
    const key = (row) => (by === 'result' ? order.indexOf(value(row, by)) : value(row, by));
    const compare = (a, b) => {
      const [one, other] = [key(a), key(b)];
      if (one === other) return 0;
      // What was not measured comes last, whichever way.
      if (one === null || one === '') return 1;
      if (other === null || other === '') return -1;
      return (one < other ? -1 : 1) * (down ? -1 : 1);
    };
    return [...list].sort(compare);
  }

  function element(tag, parts = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, text] of Object.entries(parts)) made.setAttribute(name, text);
    made.append(...children);
    return made;
  }

  function time(ms) {
    if (ms === null) return '';
    const seconds = ms / 1000;
    if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
    if (seconds < 60) return `${Math.round(seconds)} s`;
    return `${Math.floor(seconds / 60)} min ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`;
  }

  function cellOf(row, member) {
    const own = value(row, member);
    if (member === 'result') {
      const [, word, look] = results[order.indexOf(own)];
      return element('span', { class: look }, word);
    }
    if (member === 'wallMs') return time(own);
    if (member === 'category') return own.replaceAll('_', ' ');
    return typeof own === 'number' ? String(own) : element('span', { class: 'safe' }, own);
  }

  function detailsOf(row) {
    const list = element('dl', { class: 'facts' });
    const add = (name, ...children) => list.append(element('dt', {}, name), element('dd', {}, ...children));
    const trial = value(row, 'trial');
    add('Trial', element('code', { class: 'safe' }, trial));
    add('Ending', value(row, 'ending').replaceAll('_', ' '));
    const why = value(row, 'why');
    if (why !== '') add('Why', element('span', { class: 'safe' }, why));
    add('Severity', value(row, 'severity'));
    const tags = value(row, 'tags');
    if (tags !== '') add('Tags', element('span', { class: 'safe' }, tags));
    add('Attempts', String(value(row, 'attempts')));
    const spent = value(row, 'spent');
    if (spent !== '') add('Spent', spent);
    const evidence = value(row, 'evidence');
    if (evidence !== '') add('Evidence', element('a', { href: `#${evidence}` }, 'in this report'));
    add('Step by step', element('code', { class: 'safe' }, `trialbed trace ${trial}`));
    add('All that is known', element('code', { class: 'safe' }, `trialbed show ${trial}`));
    return list;
  }

  function rowOf(row, at) {
    const id = `opened-${at}`;
    const button = element(
      'button',
      { type: 'button', 'aria-expanded': 'false', 'aria-label': `Trial ${value(row, 'ordinal')}, details` },
      `▸ ${value(row, 'ordinal')}`,
    );
    const line = element('tr', {}, element('th', { scope: 'row' }, button));
    for (const member of COLUMNS.slice(1)) line.append(element('td', NUMBERS.includes(member) ? { class: 'number' } : {}, cellOf(row, member)));
    button.addEventListener('click', () => {
      const open = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!open));
      button.textContent = `${open ? '▸' : '▾'} ${value(row, 'ordinal')}`;
      if (open) byId(id).remove();
      else line.after(element('tr', { class: 'opened', id }, element('td', { colspan: String(COLUMNS.length) }, detailsOf(row))));
    });
    return line;
  }

  function show() {
    const window = found.slice(first, first + WINDOW);
    body.replaceChildren(...window.map((row, at) => rowOf(row, first + at)));
    const many = (count) => count.toLocaleString('en-US');
    const of = found.length === rows.length ? `${many(rows.length)} trials` : `${many(found.length)} of ${many(rows.length)} trials`;
    byId('counted').textContent = found.length <= WINDOW ? of : `${many(first + 1)} to ${many(first + window.length)} of ${of}`;
    byId('trial-caption').textContent = sorted.by === null ? 'What did not pass first' : 'In the order of the column that is marked';
    byId('before').disabled = first === 0;
    byId('next').disabled = first + WINDOW >= found.length;
  }

  function look() {
    found = inOrder(matching());
    first = 0;
    show();
  }

  function sortBy(member) {
    sorted = { by: member, down: sorted.by === member ? !sorted.down : NUMBERS.includes(member) && member !== 'ordinal' };
    for (const head of heads) {
      if (head.dataset.sort === member) head.setAttribute('aria-sort', sorted.down ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
      head.querySelector('.arrow').textContent = head.dataset.sort === member ? (sorted.down ? ' ↓' : ' ↑') : '';
    }
    look();
  }

  /** Opens the evidence that an address leads to. */
  function openNamed() {
    const named = location.hash.length > 1 ? byId(decodeURIComponent(location.hash.slice(1))) : null;
    if (named instanceof HTMLDetailsElement) named.open = true;
  }

  for (const head of heads) {
    const button = element('button', { type: 'button' }, head.textContent.trim(), element('span', { class: 'arrow', 'aria-hidden': 'true' }));
    button.addEventListener('click', () => sortBy(head.dataset.sort));
    head.replaceChildren(button);
  }
  let waiting = 0;
  for (const field of fields) {
    field.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(look, field.name === 'text' ? 120 : 0);
    });
  }
  function clear() {
    for (const field of fields) field.value = '';
  }
  byId('clear').addEventListener('click', () => {
    clear();
    look();
  });
  const turn = (by) => {
    first = Math.max(0, first + by);
    show();
    byId('trial-table').scrollIntoView({ block: 'nearest' });
  };
  byId('before').addEventListener('click', () => turn(-WINDOW));
  byId('next').addEventListener('click', () => turn(WINDOW));
  for (const link of document.querySelectorAll('a[data-filter]')) {
    link.addEventListener('click', () => {
      const [name, wanted] = link.dataset.filter.split('=');
      const field = fields.find((one) => one.name === name);
      clear();
      if (field) field.value = wanted;
      look();
    });
  }
  addEventListener('hashchange', openNamed);
  filters.hidden = false;
  byId('count').hidden = false;
  show();
  openNamed();
})();
