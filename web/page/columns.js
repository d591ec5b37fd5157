/* What is public about each column. With 58 columns only those in use are asked for. */

import {button, el, id, options, put, rows} from './dom.js';
import {Form, short} from './form.js';
import {codebookOf, codesOf, columnList, setForAll, shown} from './lists.js';
import {upper} from './budget.js';
import {sentence} from './questions.js';
import {bar, worstOf} from './show.js';
import {at, isMissing, noteOf, number, onOneLine, pathOfKey, pointer, withNote} from './text.js';

const FILTERS = [{value: 'fill', label: 'To fill in'}, {value: 'used', label: 'Used'}, {value: 'all', label: 'All'}];
const MISSING = [{value: 'leave_out', label: 'left out'}, {value: 'none', label: 'none'}, {value: 'category', label: 'own category'}];

/** @param {import('./state.js').App} app */
export function build(app) {
  let filter = 'fill', open = '', touched = false;
  /** @type {Set<string>} */ const chosen = new Set();
  /** @type {Form} */ let form = new Form(app);
  let shape = '';
  /** @type {import('./lists.js').Column[]} */ let all = [];

  const search = el('input', {type: 'search', id: id(), size: 24, 'aria-label': 'Search columns by name or label', on: {input: () => update()}});
  const filters = FILTERS.map(f => ({...f, node: button('', () => { filter = f.value; touched = true; update(); }, {class: 'small toggle'})}));
  const forAll = button('Set for those chosen …', () => { setBox.hidden = !setBox.hidden; if (!setBox.hidden) setKind.focus(); }, {class: 'small'});
  const importIt = button('Import a codebook …', () => { bookBox.hidden = !bookBox.hidden; if (!bookBox.hidden) book.focus(); }, {class: 'small'});

  /* several at once */
  const setKind = el('select', {id: id(), on: {change: () => update()}}, el('option', {value: 'number'}, 'number'), el('option', {value: 'category'}, 'category'));
  const setFrom = el('input', {id: id(), size: 7, inputmode: 'decimal'}), setTo = el('input', {id: id(), size: 7, inputmode: 'decimal'}), setStep = el('input', {id: id(), size: 5, value: '1', inputmode: 'decimal'});
  const setCodes = el('textarea', {id: id(), rows: 4, spellcheck: 'false', placeholder: '1 yes\n2 no'}), setMissing = el('input', {id: id(), size: 14, placeholder: '97, 98, 99'});
  const setRange = el('div', {class: 'line'}, lab('from', setFrom), lab('to', setTo), lab('in steps of', setStep)), setValues = el('div', {class: 'field'}, el('label', {for: setCodes.id}, 'One code per line, with its label'), setCodes);
  const setBox = el('form', {class: 'note', hidden: true, on: {submit: e => { e.preventDefault(); applyAll(); }}}, el('div', {class: 'line'}, lab('All chosen columns are', setKind)), setRange, setValues,
    el('div', {class: 'line'}, lab('codes that mean missing', setMissing)), el('div', {class: 'line'}, el('button', {class: 'button small main'}, 'Set for all chosen'), button('Cancel', () => { setBox.hidden = true; }, {class: 'small'})));

  /* a codebook */
  const book = el('textarea', {id: id(), rows: 5, spellcheck: 'false', wrap: 'off', placeholder: 'column,code,label,from,to,missing', on: {input: () => readBook()}});
  const bookFile = el('input', {type: 'file', id: id(), accept: '.csv,.txt', on: {change: async () => {
    book.value = await bookFile.files?.[0]?.text() ?? '';
    readBook();
  }}}), bookWords = el('p', {class: 'help', role: 'status'});
  const bookBox = el('div', {class: 'note', hidden: true}, el('div', {class: 'field'}, el('label', {for: bookFile.id}, 'A codebook is a CSV file with the columns column, code, label, from, to, missing. It stays in this tab.'), bookFile),
    el('div', {class: 'field'}, el('label', {for: book.id}, 'or paste it'), book), bookWords, el('div', {class: 'line'}, button('Use it for the columns in use', () => applyBook(), {class: 'small main'}), button('Cancel', () => { bookBox.hidden = true; }, {class: 'small'})));

  const body = el('tbody');
  const empty = el('p', {class: 'note'});
  const every = el('input', {type: 'checkbox', 'aria-label': 'Choose all columns in the list', on: {change: () => {
    for (const c of shown(all, /** @type {any} */ (filter), search.value)) every.checked ? chosen.add(c.name) : chosen.delete(c.name);
    update();
  }}});
  const table = el('div', {class: 'scroll framed tall', tabindex: 0, role: 'region', 'aria-label': 'Columns'}, el('table', {class: 'cols'}, el('caption', {class: 'hidden'}, 'Columns'),
    el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, every, ' Column'), ['Kind', 'Range or values', 'Missing', 'Used in', 'More'].map(t => el('th', {scope: 'col'}, t)))), body));
  const detail = el('section', {class: 'part detail', hidden: true});
  const root = el('div', {class: 'screen'}, el('h1', {}, 'What is public about each column?'),
    el('p', {class: 'lead'}, 'Ranges and lists come from the questionnaire, a regulation or an earlier publication, ', el('strong', {}, 'never from this file'), '. A wider range means more noise; what is outside counts as the nearest end.'),
    el('div', {class: 'line tools'}, search, el('div', {class: 'line tight', role: 'group', 'aria-label': 'Which columns'}, filters.map(f => f.node)), el('span', {class: 'grow'}), forAll, importIt),
    setBox, bookBox, empty, table, detail);

  const path = (name, ...more) => pointer('columns', name, ...more);

  function applyAll() {
    const missing = setMissing.value.split(/[\s,;]+/).filter(t => t).map(t => number(t));
    const values = setKind.value === 'number' ? {from: number(setFrom.value), to: number(setTo.value), step: number(setStep.value) ?? 1} : {values: codesOf(setCodes.value).map(c => c.code)};
    if (setKind.value === 'number' ? values.from === null || values.to === null : !values.values?.length) return app.say(setKind.value === 'number' ? 'Write where the range begins and ends.' : 'Write at least one code.');
    const names = [...chosen];
    if (!names.length) return app.say('Choose columns first: the box before each name.');
    app.edit(tree => setForAll(names, {...values, ...(missing.length ? {missing_codes: missing} : {})}, tree)).then(ok => {
      if (!ok) return;
      setBox.hidden = true;
      app.say(`Set for ${names.length} columns.`);
      chosen.clear();
      update();
    });
  }

  function readBook() {
    const {columns, problems} = codebookOf(book.value);
    const fits = all.filter(c => c.used && columns.has(c.name));
    put(bookWords, book.value.trim() === '' ? '' : problems.length ? problems.slice(0, 3).join('; ') : `${columns.size} columns in the codebook, ${fits.length} of them in use here`);
    return {columns, fits};
  }

  function applyBook() {
    const {columns, fits} = readBook();
    app.edit(tree => fits.flatMap(c => {
      const {labels, ...of} = columns.get(c.name);
      const clean = Object.fromEntries(Object.entries(of).map(([k, v]) => [k, Array.isArray(v) ? v : k === 'label' ? v : number(String(v))]));
      if (clean.from !== undefined) clean.step ??= 1;
      return setForAll([c.name], clean, tree);
    })).then(ok => {
      if (!ok) return;
      bookBox.hidden = true;
      app.say(`The codebook was used for ${fits.length} columns.`);
    });
  }

  /** @param {import('./lists.js').Column} c */
  function summary(c) {
    const d = c.declared;
    if (c.stratum && !c.kind) return 'the strata of the design';
    if (c.kind === 'number') return d.from !== undefined && d.to !== undefined ? [range(d.from), ' … ', range(d.to), d.step !== undefined ? `, step ${range(d.step)}` : ''].join('') : '';
    if (c.kind === 'category') return Array.isArray(d.values) ? `${d.values.slice(0, 4).join(', ')}${d.values.length > 4 ? ' …' : ''}` : d.values?.file ? `list in ${d.values.file}` : '';
    if (c.kind === 'strata') return 'follows from the strata';
    return '';
  }

  const range = v => (typeof v !== 'object' ? v : v?.private !== undefined ? `a private bound up to ${v.beyond}` : v?.times !== undefined ? `${v.times} times ${v.of}` : 'by stratum');

  function rowOf(item) {
    const name = item.name;
    const box = el('input', {type: 'checkbox', 'aria-label': `Choose ${name}`, on: {change: () => {
      if (box.checked) chosen.add(name);
      else chosen.delete(name);
      update();
    }}});
    const label = el('div', {class: 'help'}), kind = el('select', {'aria-label': `Kind of ${name}`});
    options(kind, [{value: '', label: '–'}, {value: 'number', label: 'number'}, {value: 'category', label: 'category'}]);
    let now = item, own = '';
    kind.addEventListener('change', () => {
      const old = now.declared && typeof now.declared === 'object' ? {...now.declared} : {};
      for (const k of ['from', 'to', 'step', 'values', 'typical', 'missing', 'unit_of_measure']) delete old[k];
      app.edit([{path: path(name), value: kind.value === 'number' ? {step: 1, ...old} : kind.value === 'category' && now.mentioned.length ? {values: now.mentioned, ...old} : old}]);
      open = name;
      update();
    });
    const fill = button('', () => { show(name); }, {class: 'small cell'}), missing = el('select', {'aria-label': `Missing values of ${name}`});
    missing.addEventListener('change', () => {
      const first = app.history && at(JSON.parse(app.history.list[0].tree), path(name, 'missing'));
      app.edit([{path: path(name, 'missing'), value: missing.value === 'leave_out' && first === undefined ? null : missing.value}]);
    });
    const uses = el('td'), more = button('More', () => show(name === open ? '' : name), {class: 'small'});
    const flag = el('span', {class: 'no'}, ' to fill in');
    const cell = t => el('td', {}, t);
    const row = el('tr', {}, el('th', {scope: 'row'}, el('label', {class: 'inline'}, box, el('span', {}, name)), label), cell(kind), el('td', {}, fill, flag), cell(missing), uses, cell(more));
    return Object.assign(row, {update(c) {
      now = c;
      box.checked = chosen.has(name);
      put(label, c.label && c.label !== name ? c.label : '');
      const value = c.kind === 'strata' ? '' : c.kind ?? (c.used && !c.stratum ? c.wanted ?? '' : '');
      if (document.activeElement !== kind) kind.value = value;
      kind.hidden = !c.used || c.stratum;
      const text = summary(c);
      put(fill, text || (value === 'category' ? 'Paste a code list' : value === 'number' ? 'Enter a range' : 'Describe it'));
      fill.setAttribute('aria-label', `${name}: ${fill.textContent}`);
      fill.hidden = !c.used;
      flag.hidden = !c.fill;
      const m = String(c.declared?.missing ?? 'leave_out');
      if (!MISSING.some(o => o.value === m)) own = m; /* it stays to be chosen again */
      options(missing, [...MISSING.filter(o => o.value !== 'category' || value === 'category'), ...(own ? [{value: own, label: `counts as ${own}`}] : [])]);
      if (document.activeElement !== missing) missing.value = m;
      missing.hidden = !c.used || c.stratum || !c.kind;
      put(uses, c.uses.length ? c.uses.length === 1 ? 'one statistic' : `${c.uses.length} statistics` : c.stratum ? 'the design' : c.used ? 'not used yet' : 'not used');
      more.hidden = !c.used || c.stratum;
      more.setAttribute('aria-expanded', String(open === name));
      more.setAttribute('aria-label', `More about ${name}`);
      row.classList.toggle('open', open === name);
    }});
  }

  /** @param {string} name */
  function show(name) {
    open = name;
    update();
    if (name) {
      detail.scrollIntoView({block: 'nearest'});
      /** @type {any} */ (detail.querySelector('input, textarea'))?.focus();
    }
  }

  /** The fields of one column. @param {import('./lists.js').Column} c */
  function rebuild(c) {
    form = new Form(app);
    const name = c.name, kind = c.kind ?? c.wanted;
    const uses = el('small'), note = el('input', {id: id(), size: 36, autocomplete: 'off', placeholder: 'questionnaire, regulation, earlier release'});
    note.addEventListener('change', () => addNote(name, note.value));
    const heading = el('h2', {}, name, ' ', uses), forecast = el('div', {class: 'note'}), wrong = el('p', {class: 'error'});
    const label = form.field({path: path(name, 'label'), label: 'Label in the report', size: 28});
    const codes = form.field({path: path(name, 'missing_codes'), label: 'Codes that mean missing', size: 16, placeholder: '97, 98, 99', read: v => (Array.isArray(v) ? v.join(', ') : v ?? ''), write: t => {
      const list = t.split(/[\s,;]+/).filter(x => x).map(x => number(x));
      return list.length ? list : null;
    }});
    const from = el('div', {class: 'field'}, el('label', {for: note.id}, 'Note: from where is this?'), note, el('span', {class: 'help'}, 'Kept as a comment in the plan: an auditor asks for it. Labels of codes are noted here too.'));
    /** @type {any} */ let own;
    if (kind === 'number') {
      const guess = (key, text, help) => form.field({path: path(name, 'typical', key), kind: 'number', label: text, size: 7, help, read: v => {
        const all = at(app.tree, path(name, 'typical'));
        return key === 'mean' && all !== undefined && typeof all !== 'object' ? String(all) : v ?? '';
      }, write: number});
      const typical = el('div', {class: 'line'}, guess('mean', 'mean'), guess('sd', 'standard deviation'), guess('share', 'share that has a value', 'of 1'));
      typical.addEventListener('input', e => {
        /* a plan may have the mean alone, `typical: 600`: it becomes a map when more is known */
        const all = at(app.tree, path(name, 'typical'));
        if (all !== undefined && typeof all !== 'object') {
          e.stopPropagation();
          const [mean, sd, share] = [...typical.querySelectorAll('input')].map(i => number(i.value));
          app.edit([{path: path(name, 'typical'), value: sd === null && share === null ? mean : {...(mean === null ? {} : {mean}), ...(sd === null ? {} : {sd}), ...(share === null ? {} : {share})}}], path(name, 'typical'));
        }
      }, true);
      own = [el('div', {class: 'line'}, form.field({path: path(name, 'from'), kind: 'number', label: 'from', size: 8, need: true}), form.field({path: path(name, 'to'), kind: 'number', label: 'to', size: 8, need: true}),
        form.field({path: path(name, 'step'), kind: 'number', label: 'in steps of', size: 5}), form.field({path: path(name, 'unit_of_measure'), label: 'measured in', size: 14, placeholder: 'hours a week'})),
      el('h3', {}, 'A guess'), typical, el('p', {class: 'help'}, 'Guesses cost accuracy if wrong, never privacy. Take them from last year or another survey.')];
    } else {
      const list = el('textarea', {id: id(), rows: 6, spellcheck: 'false', placeholder: '1 yes\n2 no'}), words = el('p', {class: 'help', role: 'status'});
      const read = () => {
        const found = codesOf(list.value);
        put(words, found.length ? `${found.length} codes: ${found.slice(0, 6).map(x => (x.label ? `${x.code} (${x.label})` : x.code)).join(', ')}${found.length > 6 ? ' …' : ''}` : '');
        return found;
      };
      list.addEventListener('input', read);
      const use = async () => {
        const found = read();
        if (!found.length) return list.focus();
        const ok = await app.edit([{path: path(name, 'values'), value: found.map(x => x.code)}]);
        const labels = found.filter(x => x.label).map(x => `${x.code} ${x.label}`).join(', ');
        if (ok && labels && !noteOf(app.text, place(name))) await addNote(name, labels.slice(0, 200));
      };
      list.addEventListener('change', use);
      form.updates.push(() => {
        const now = all.find(x => x.name === name), values = now?.declared?.values;
        if (document.activeElement === list) return;
        const text = Array.isArray(values) ? values.join('\n') : (now?.codes.length ? now.codes.map(x => `${x.code}\t${x.label}`) : now?.mentioned ?? []).join('\n');
        if (list.dataset.of !== text) {
          list.dataset.of = text;
          list.value = text;
          read();
        }
      });
      own = [el('div', {class: 'field'}, el('label', {for: list.id}, 'The values that the file may have: one code per line, with a label behind it if you like'), list, words),
        el('div', {class: 'line'}, button('Use this list', use, {class: 'small main'})), shares(name)];
    }
    put(detail, heading, wrong, own, el('div', {class: 'line'}, label, codes), from, forecast);
    form.updates.push(() => {
      const now = all.find(x => x.name === name);
      if (!now) return;
      const p = app.preview && app.draft?.ok ? app.preview : null;
      put(uses, kind ?? '', now.uses.length ? `, used in ${now.uses.map(i => `“${p?.statistics.find(s => s.number === i)?.words ?? sentence(app.tree?.statistics?.[i])}”`).slice(0, 3).join(', ')}` : '');
      put(wrong, app.errorsAt(path(name)).filter(e => !isMissing(e)).map(short).join(' '));
      if (document.activeElement !== note) note.value = noteOf(app.text, place(name));
      note.disabled = shared(name);
      const mine = (p?.statistics ?? []).filter(s => now.uses.includes(s.number) && !s.known);
      forecast.hidden = !mine.length;
      put(forecast, mine.slice(0, 4).map(s => {
        const half = s.changes?.find(x => x.change === 'half_the_range'), w = worstOf(s);
        return el('p', {}, upper(s.words), `: noise ± ${w.shown?.noise_sd ?? '–'}, sampling ± ${w.shown?.sampling_se ?? '–'}${w.shown?.cv ? `, CV ${w.shown.cv}` : ''}. `,
          kind === 'number' && half?.shown?.error_lower_by && s.column === name && half.error_lower_by > 0 ? `Half the range would lower the whole error by ${half.shown.error_lower_by}.` : '', ' ', bar(w, `CV ${w.shown?.cv ?? 'not known'}`));
      }));
    });
  }

  /** Guesses of the shares of a category. @param {string} name */
  function shares(name) {
    const grid = el('div', {class: 'grid small'});
    const part = el('details', {}, el('summary', {}, 'A guess of the shares, for the forecast'), grid, el('p', {class: 'help'}, 'Of 1, such as 0.3; together at most 1, and values without a guess share the rest. From last year or another survey, never from this file.'));
    form.updates.push(() => {
      const values = at(app.tree, path(name, 'values'));
      part.hidden = !Array.isArray(values) || values.length > 40;
      if (!part.hidden) rows(grid, values.map(String), v => v, v => {
        const p = path(name, 'typical', v), input = el('input', {id: id(), size: 6, inputmode: 'decimal', autocomplete: 'off', on: {input: () => {
          const value = number(input.value), all = at(app.tree, path(name, 'typical'));
          if (value === null && all && typeof all === 'object' && Object.keys(all).length === 1) app.edit([{path: path(name, 'typical'), value: null}], p);
          else app.edit([{path: p, value}], p);
        }}});
        return Object.assign(el('div', {class: 'field'}, el('label', {for: input.id}, v), input), {update() {
          if (document.activeElement !== input) input.value = String(at(app.tree, p) ?? '');
        }});
      });
    });
    return part;
  }

  const place = name => app.draft?.places?.find(p => p.path === path(name));

  /** Whether another column ends on the same line: a note would be of both. @param {string} name */
  function shared(name) {
    const mine = place(name);
    if (!mine) return true;
    return Object.keys(app.tree?.columns ?? {}).some(n => n !== name && place(n) && onOneLine(app.text, mine, place(n)));
  }

  /** @param {string} name @param {string} text */
  async function addNote(name, text) {
    await app.settle();
    const where = place(name);
    if (!where || shared(name)) return;
    const next = withNote(app.text, where, text), before = JSON.stringify(app.draft.tree);
    if (next === app.text) return;
    const old = app.text;
    await app.take(next, null, true, 'note' + name);
    if (JSON.stringify(app.draft.tree) !== before) await app.take(old, null, true, 'note' + name);
  }

  function update() {
    const wrong = new Set(app.errorsOf('columns').map(e => pathOfKey(e.key, app.draft.tree).split('/')[2]).filter(Boolean).map(n => n.replace(/~1/g, '/').replace(/~0/g, '~')));
    all = columnList(app.tree, app.header, wrong);
    if (app.wanted) {
      open = app.wanted;
      filter = 'used';
      touched = true;
      app.wanted = null;
    }
    if (!touched && !all.some(c => c.fill)) filter = all.some(c => c.used) ? 'used' : 'all';
    for (const f of filters) {
      put(f.node, `${f.label} ${shown(all, /** @type {any} */ (f.value), '').length}`);
      f.node.setAttribute('aria-pressed', String(f.value === filter));
    }
    search.placeholder = `Search ${all.length} columns`;
    const list = shown(all, /** @type {any} */ (filter), search.value);
    rows(body, list, c => c.name, rowOf);
    every.checked = list.length > 0 && list.every(c => chosen.has(c.name));
    table.hidden = !list.length;
    empty.hidden = list.length > 0;
    put(empty, !all.length ? 'No columns yet: choose a data file, or add statistics.' : search.value ? 'No column matches.' : filter === 'fill' ? 'Nothing to fill in: every column in use is described.' : 'No column is used yet: statistics use them.');
    forAll.disabled = !chosen.size;
    put(forAll, chosen.size ? `Set for ${chosen.size} chosen …` : 'Set for those chosen …');
    setRange.hidden = setKind.value !== 'number';
    setValues.hidden = setKind.value === 'number';
    const c = all.find(x => x.name === open);
    const key = c?.used && !c.stratum ? `${c.name}:${c.kind ?? c.wanted}` : '';
    detail.hidden = !key;
    if (key !== shape) {
      shape = key;
      if (key && c) rebuild(c);
      else form = new Form(app);
    }
    form.update();
  }

  return {root, update, enter: () => { touched = false; filter = 'fill'; if (!app.wanted) { const first = all.find(c => c.fill); if (first) open = first.name; } }};
}

/** @param {string} text @param {any} input */
function lab(text, input) { return el('span', {class: 'line tight'}, el('label', {for: input.id}, text), input); }
