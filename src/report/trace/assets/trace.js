// Shows one step at a time, and rows, mails and messages as they were after it. Without it the page has everything, one below the other.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId('state').textContent);
  const links = [...document.querySelectorAll('.steps a')];
  const steps = [...document.querySelectorAll('.step')];
  const tabs = [...document.querySelectorAll('[role=tab]')];
  const panes = byId('panes');
  const cursor = byId('cursor');
  const narrow = matchMedia('(max-width: 860px)');
  let now = 0;
  let tab = 'step';
  if (steps.length === 0) {
    document.documentElement.classList.remove('js');
    return;
  }

  /** A step by its number: shown, marked in list and strip, and named by the address. */
  function select(n, { follow = true, name = true } = {}) {
    const to = Math.min(Math.max(n, 1), steps.length);
    if (to !== now) {
      steps[now - 1]?.classList.remove('on');
      links[now - 1]?.removeAttribute('aria-current');
      now = to;
      steps[now - 1].classList.add('on');
      links[now - 1].setAttribute('aria-current', 'step');
      cursor.setAttribute('x', `${((now - 1) / steps.length) * 100}%`);
      panes.scrollTop = 0;
      state(now);
      if (name) history.replaceState(null, '', `#step-${now}`);
    }
    byId('before').disabled = now === 1;
    byId('next').disabled = now === steps.length;
    if (follow) links[now - 1].scrollIntoView({ block: 'nearest' });
  }

  function show(name) {
    tab = name;
    for (const one of tabs) {
      const on = one.id === `tab-${name}`;
      one.setAttribute('aria-selected', String(on));
      one.tabIndex = on ? 0 : -1;
      byId(one.getAttribute('aria-controls')).classList.toggle('on', on);
    }
    panes.scrollTop = 0;
    state(now);
  }

  /** What was so after a step; `end`: after all of them. */
  function state(n, end = false) {
    for (const item of document.querySelectorAll('.item[data-step]')) item.classList.toggle('later', !end && Number(item.dataset.step) > n);
    for (const when of document.querySelectorAll('.when')) when.textContent = end ? 'At the end.' : `After step ${n}.`;
    const inTickets = new Set(data.tickets.flatMap(({ rows }) => rows));
    const touched = (place) => data.rows[place].states.some(([step]) => end || step <= n);
    const world = data.rows.map((_, place) => place).filter((place) => !inTickets.has(place) && touched(place));
    const tickets = data.tickets.filter(({ rows }) => rows.some(touched));
    count('world', world.length);
    count('tickets', tickets.length);
    count('inbox', document.querySelectorAll('#pane-inbox .item:not(.later)').length);
    // The others are drawn when somebody looks.
    if (data.rows.length === 0) return;
    if (tab === 'world' || end) {
      const rows = world.slice(0, 300).map((place) => card(data.rows[place], n, end));
      const left = world.length - rows.length + data.left;
      if (left > 0) rows.push(note(`and ${left} rows more`));
      byId('world-rows').replaceChildren(...(rows.length > 0 ? rows : [note('No row had been changed.')]));
    }
    if ((tab === 'tickets' || end) && data.tickets.length > 0) {
      const cards = tickets.slice(0, 100).map(({ name, rows }) => {
        const section = make('section', 'ticket', make('h3', '', name));
        section.append(...rows.filter(touched).map((place) => card(data.rows[place], n, end)));
        return section;
      });
      byId('ticket-rows').replaceChildren(...(cards.length > 0 ? cards : [note('No ticket had been made or changed.')]));
    }
  }

  function count(name, many) {
    byId(`count-${name}`).textContent = many === 0 ? '' : String(many);
  }

  /** A row at first, before the step, and after it. */
  function card({ name, before, states }, n, end) {
    let image = before;
    let previous = before;
    const changedBy = [];
    for (const [step, row, outside, partial] of states) {
      if (!end && step > n) continue;
      const next = partial && image && row ? { ...image, ...row } : row;
      if (step < n || end) previous = next;
      image = next;
      changedBy.push({ step, outside });
    }
    const fresh = !end && changedBy.some(({ step }) => step === n);
    if (!fresh) previous = image;
    const columns = Object.keys({ ...before, ...previous, ...image });
    const of = (row, column) => (row ? (row[column] ?? 'null') : '');
    const told = columns.filter((column) => {
      const values = new Set([before, previous, image].map((row) => of(row, column)));
      return values.size > 1 && !(before === null && of(image, column) === 'null');
    });
    const rest = columns.filter((column) => !told.includes(column));
    const table = make('table', 'diff');
    const caption = make('caption', '', `${name} `);
    if (image === null) caption.append(make('span', 'badge bad', 'deleted'));
    else if (before === null) caption.append(make('span', 'badge good', 'new'));
    if (fresh) caption.append(make('span', 'badge busy', `changed in step ${n}`));
    if (changedBy.some(({ outside }) => outside)) caption.append(make('span', 'badge wait', 'also by somebody else'));
    const earlier = [...new Set(changedBy.map(({ step }) => step))].filter((step) => !fresh || step !== n);
    if (earlier.length > 0) {
      const dim = make('span', 'dim', ' changed in ');
      earlier.slice(-6).forEach((step, at) => {
        const link = make('a', '', `step ${step}`);
        link.href = `#step-${step}`;
        dim.append(at > 0 ? ', ' : '', link);
      });
      caption.append(dim);
    }
    const heads = fresh ? ['Column', 'At first', `Before step ${n}`, `After step ${n}`] : ['Column', 'At first', end ? 'At the end' : `After step ${n}`];
    const head = make('tr', '');
    head.append(...heads.map((text) => scoped('col', text)));
    const body = make('tbody', '');
    for (const column of told) {
      const line = make('tr', '');
      const moved = fresh && of(previous, column) !== of(image, column);
      line.append(scoped('row', column), make('td', 'first', of(before, column)));
      if (fresh) line.append(make('td', moved ? 'was' : '', of(previous, column)));
      line.append(make('td', moved || !fresh ? 'now' : '', of(image, column)));
      body.append(line);
    }
    const thead = make('thead', '');
    thead.append(head);
    table.append(caption, thead, body);
    if (rest.length > 0 && image !== null) {
      const cell = make('td', '', `unchanged: ${rest.map((column) => `${column} ${of(image, column)}`).join(', ')}`);
      cell.colSpan = heads.length;
      const line = make('tr', '');
      line.append(cell);
      const foot = make('tfoot', '');
      foot.append(line);
      table.append(foot);
    }
    return table;
  }

  function make(name, className, text = '') {
    const element = document.createElement(name);
    if (className !== '') element.className = className;
    if (text instanceof Node) element.append(text);
    else element.textContent = text;
    return element;
  }

  function scoped(scope, text) {
    const cell = make('th', '', text);
    cell.scope = scope;
    return cell;
  }

  function note(text) {
    return make('p', 'empty', text);
  }

  /** Where the address leads: a step by its number or by its operation, or a pane. */
  function arrive() {
    const hash = decodeURIComponent(location.hash.slice(1));
    const step = /^step-(\d+)$/.exec(hash);
    const operation = steps.findIndex((one) => hash !== '' && one.dataset.op === hash);
    const pane = /^pane-(\w+)$/.exec(hash);
    if (pane && byId(`tab-${pane[1]}`)) {
      select(now || data.focus, { name: false });
      show(pane[1]);
      return;
    }
    if (step || operation >= 0) show('step');
    // Whoever comes to the whole page sees its beginning.
    const to = step ? Number(step[1]) : operation >= 0 ? operation + 1 : now || data.focus;
    select(to, { name: hash !== '', follow: hash !== '' || !narrow.matches });
  }

  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#step-"]');
    if (!link) return;
    event.preventDefault();
    const inList = links.includes(link);
    if (!inList) show('step');
    select(Number(link.getAttribute('href').slice(6)), { follow: !inList });
    if (narrow.matches) document.querySelector('.detail').scrollIntoView({ block: 'start' });
    else if (!inList) links[now - 1].focus({ preventScroll: true });
  });
  document.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const focus = document.activeElement;
    const by = { ArrowUp: -1, k: -1, ArrowDown: 1, j: 1 }[event.key];
    // Whoever has the details in focus scrolls them.
    if (by !== undefined && !(event.key.startsWith('Arrow') && (focus === panes || panes.contains(focus)))) {
      event.preventDefault();
      select(now + by);
      if (links.includes(focus)) links[now - 1].focus({ preventScroll: true });
      return;
    }
    const side = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (side !== undefined && !panes.contains(focus)) {
      event.preventDefault();
      const at = tabs.findIndex((one) => one.id === `tab-${tab}`);
      const to = tabs[(at + side + tabs.length) % tabs.length];
      show(to.id.slice(4));
      if (tabs.includes(focus)) to.focus();
    }
  });
  for (const one of tabs) one.addEventListener('click', () => show(one.id.slice(4)));
  byId('before').addEventListener('click', () => select(now - 1));
  byId('next').addEventListener('click', () => select(now + 1));
  addEventListener('hashchange', arrive);
  addEventListener('beforeprint', () => state(steps.length, true));
  addEventListener('afterprint', () => state(now));
  show('step');
  arrive();
})();
