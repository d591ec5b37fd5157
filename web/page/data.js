/* What do you have: a file, a description, a plan, the example. */

import {call, Refusal} from './api.js';
import {button, el, put, rows} from './dom.js';
import {Form} from './form.js';
import {firstPlan} from './text.js';

const KINDS = {folder: 'folder', plan: 'plan', data: 'data', ledger: 'ledger', release: 'release', key: 'key', other: 'other'};
const FORMATS = {csv: 'CSV', parquet: 'Parquet', sav: 'SPSS', zsav: 'SPSS', por: 'SPSS', dta: 'Stata', sas7bdat: 'SAS', xpt: 'SAS', duckdb: 'DuckDB', db: 'DuckDB'};

/** @param {import('./state.js').App} app */
export function build(app) {
  const form = new Form(app);
  let folder = '';
  /** @type {any[]} */ let entries = [];
  /** @type {any} */ let chosen = null;
  let all = false;

  const choice = (title, text, label, act, main = false) => el('section', {class: 'card choice-card'}, el('h2', {}, title), el('p', {}, text), button(label, act, main ? {class: 'main'} : {}));
  const example = choice('A look around', 'A survey that comes with tamis: plan and data', 'Open the example', openExample);
  const cards = el('div', {class: 'cards four'},
    choice('A data file', 'CSV, Parquet, SPSS, Stata, SAS, DuckDB', 'Choose a file', () => focusOn('data'), true),
    choice('Only a description', 'The survey is still being planned: sizes, questions, guesses', 'Start empty', startEmpty),
    choice('A plan', 'plan.yaml from last wave or a colleague', 'Open a plan', () => focusOn('plan')), example);
  const where = el('h2'), list = el('tbody');
  const files = el('div', {class: 'scroll framed', tabindex: 0, role: 'region', 'aria-label': 'Files'}, el('table', {}, el('caption', {class: 'hidden'}, 'Files'),
    el('thead', {}, el('tr', {}, ['Name', 'Kind'].map(t => el('th', {scope: 'col'}, t)), el('th', {scope: 'col', class: 'number'}, 'Size'), el('th', {scope: 'col'}, 'Changed'))), list));
  const others = button('Show all files', () => { all = !all; draw(); }, {class: 'link'});
  const note = el('div', {class: 'note', hidden: true, 'aria-live': 'polite'});
  const about = el('section', {class: 'part', hidden: true}, el('h2', {}, 'This survey'), el('div', {class: 'grid'},
    form.field({path: '/survey', label: 'Name of the survey', need: true, help: 'All its releases share one account. Letters, digits and hyphens are best.', size: 30}),
    form.field({path: '/title', label: 'Title of the report', size: 40}),
    form.field({path: '/source/file', label: 'Data file', size: 30}),
    form.field({path: '/wave', label: 'Wave, if there are several', size: 14, read: v => (typeof v === 'object' && v ? v.name ?? '' : v ?? ''), write: t => {
      const old = app.tree?.wave;
      return t.trim() === '' ? null : old && typeof old === 'object' ? {...old, name: t} : t;
    }})));
  const root = el('div', {class: 'screen'}, el('h1', {}, 'What do you have?'),
    el('p', {class: 'lead'}, 'tamis plans with what is public about a survey. It looks at the header of a data file, never at its rows, until you release.'),
    about, cards, where, files, others, note);

  /** @param {string} kind */
  function focusOn(kind) {
    const found = entries.find(e => e.kind === kind);
    if (!found) return app.say(kind === 'data' ? 'There is no data file here. Put one into this folder, or start tamis serve where it is.' : 'There is no plan here: files whose names end in .yaml are listed.');
    /** @type {any} */ (list.querySelector(`[data-kind=${kind}]`))?.focus();
  }

  const sure = () => !app.unsaved || window.confirm('The open plan is not saved. Go on without saving it?');

  async function startEmpty() {
    if (!sure()) return;
    await app.begin(free('plan.yaml'), firstPlan(null), null);
    location.hash = '#design';
  }

  async function openExample() {
    if (!sure()) return;
    try {
      const {file} = await call('example');
      await app.load(file);
      location.hash = '#budget';
    } catch (error) {
      app.fail(error);
    }
  }

  /** A name that no file has yet. @param {string} name */
  function free(name) {
    const taken = new Set(entries.map(e => e.name));
    let file = name;
    for (let i = 2; taken.has(file); i++) file = name.replace(/\.yaml$/, `-${i}.yaml`);
    return (folder ? folder + '/' : '') + file;
  }

  async function look(to) {
    try {
      const answer = await call('files', {folder: to});
      folder = answer.folder;
      entries = answer.entries;
      chosen = null;
      draw();
    } catch (error) {
      app.fail(error);
    }
  }

  /** @param {any} e */
  async function take(e) {
    if (e.kind === 'folder') return look(e.path);
    if (e.kind === 'release') {
      const {view} = await call('open', {folder: e.path, name: 'report.html'});
      return window.open(view, '_blank', 'noopener');
    }
    if (e.kind === 'plan') {
      if (!sure()) return;
      try {
        await app.load(e.path);
        location.hash = '#budget';
      } catch (error) {
        app.fail(error);
      }
      return;
    }
    if (e.kind !== 'data') return;
    try {
      const header = await call('header', {file: e.path});
      chosen = {entry: e, header};
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      chosen = {entry: e, error};
    }
    draw();
    note.querySelector('button')?.focus();
  }

  async function begin() {
    if (!sure()) return;
    const {entry} = chosen;
    const source = entry.path.startsWith('/') ? entry.path : entry.name;
    await app.begin(free('plan.yaml'), firstPlan(source), null);
    location.hash = '#design';
  }

  function draw() {
    put(where, app.about?.folder ? `${app.about.folder}${folder ? '/' + folder : ''} ` : 'Files ', el('small', {}, 'tamis serve was started here; it sees nothing outside'));
    const shown = entries.filter(e => all || ['folder', 'plan', 'data', 'release'].includes(e.kind));
    others.hidden = entries.length === shown.length && !all;
    others.textContent = all ? 'Show only what can be opened' : 'Show all files';
    const up = folder ? [{name: '..', path: folder.includes('/') ? folder.replace(/\/[^/]*$/, '') : '', kind: 'folder', size: null, modified: null}] : [];
    rows(list, [...up, ...shown], e => e.path + e.name, e => {
      const can = ['folder', 'plan', 'data', 'release'].includes(e.kind), format = FORMATS[e.name.split('.').pop().toLowerCase()];
      return el('tr', {}, el('th', {scope: 'row'}, can ? button(e.name + (e.kind === 'folder' ? '/' : ''), () => take(e), {class: 'link', data: {kind: e.kind}, 'aria-label': e.name === '..' ? 'folder above' : null}) : e.name),
        el('td', {}, KINDS[e.kind], format && e.kind === 'data' ? `, ${format}` : ''), el('td', {class: 'number'}, e.size === null || e.size === undefined ? '–' : size(e.size)),
        el('td', {}, e.modified ? new Date(e.modified).toLocaleString([], {dateStyle: 'medium', timeStyle: 'short'}) : ''));
    });
    if (!list.childElementCount) put(list, el('tr', {}, el('td', {colspan: 4}, 'No data file and no plan here.')));
    note.hidden = !chosen;
    note.className = chosen?.error ? 'note bad' : 'note';
    if (chosen?.error) put(note, chosen.error.message);
    else if (chosen) {
      const {columns, label} = chosen.header, csv = /\.csv$/i.test(chosen.entry.name), names = columns.map(c => c.name);
      put(note, el('p', {}, el('strong', {}, `${chosen.entry.name}: ${columns.length} columns. `), 'The header was read, no row was. ', label ? `${label}. ` : '',
        csv ? 'CSV has no types or labels, so you will be asked.' : ''),
      el('p', {class: 'names'}, names.slice(0, 80).join(', '), names.length > 80 ? ' …' : ''),
      csv ? el('details', {}, el('summary', {}, 'The first line is data, not names?'), el('p', {}, 'Then the words above are answers of somebody. Write a line with names at the top of the file, and choose it again.')) : null,
      el('div', {class: 'line'}, button('Begin a plan with this file', begin, {class: 'main'})));
    }
  }

  function update() {
    about.hidden = !app.open;
    form.update();
    example.hidden = app.about?.example === false || app.about?.read_only === true;
  }

  return {root, update, enter: () => look(folder)};
}

/** @param {number} bytes */
function size(bytes) {
  return bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1e5) / 10} MB`;
}
