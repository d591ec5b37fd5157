/* Which numbers will be published: a sentence that becomes a statistic, and the list of them. */

import {Refusal} from './api.js';
import {box, button, el, id, options, put, rows} from './dom.js';
import {columnOptions, short} from './form.js';
import {declarations} from './lists.js';
import {sentence, statisticOf, STATISTICS} from './questions.js';
import {worstOf} from './show.js';
import {upper} from './budget.js';
import {at, pointer} from './text.js';

const IMPORTANCE = [{value: '1/2', label: 'less'}, {value: '1', label: 'normal'}, {value: '2', label: 'more'}, {value: '4', label: 'most'}];

/** @returns {import('./questions.js').StatisticForm} */
const empty = () => ({kind: 'count', column: '', being: [], to: [], toColumn: '', by: [], where: [], at: '', line: '', cuts: ''});

/** @param {import('./state.js').App} app */
export function build(app) {
  let f = empty();
  let shape = '', tried = '';
  /** @type {any} */ let p = null;
  /** @type {any} */ let trial = null;

  const kind = el('select', {id: id(), 'aria-label': 'Kind of statistic', on: {change: () => {
    const being = f.being.length ? f.being : [condition()];
    f = {...f, kind: kind.value, being, to: f.to.length ? f.to : [condition()]};
    change();
  }}}, STATISTICS.map(s => el('option', {value: s.value}, s.label)));
  const parts = el('div', {class: 'sentence'});
  const add = button('Add', addIt, {class: 'main'});
  const foresight = el('span', {class: 'help', role: 'status'});
  const said = el('p', {class: 'note'});
  const builder = box('Add a statistic', el('div', {class: 'sentence'}, kind), parts, el('div', {class: 'line'}, add, foresight));
  const list = el('tbody'), title = el('h2'), none = el('p', {class: 'note'}, 'Nothing yet. A first one: the number of units by a column.');
  const table = el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Statistics'}, el('table', {}, el('caption', {class: 'hidden'}, 'Statistics of the plan'),
    el('thead', {}, el('tr', {}, ['Statistic', 'CV', 'Importance', 'Remove'].map((t, i) => el('th', {scope: 'col', class: i === 1 ? 'number' : null}, t)))), list));
  const soon = el('p', {class: 'help'}, 'CV, the expected error in % of the number, is shown when the plan is complete.');
  const root = el('div', {class: 'screen'}, el('h1', {}, 'Which numbers will be published?'),
    el('p', {class: 'lead'}, 'Everything of one publication belongs in one plan: the numbers share the budget and support each other.'),
    el('div', {class: 'columns even'}, el('div', {}, builder, said), el('div', {}, title, none, table, soon, el('p', {class: 'help'}, 'More important numbers get more of the budget, so less noise: budget_share in the plan, normal 1, more 2, most 4, less 1/2.'))));

  function condition() { return /** @type {import('./questions.js').Condition} */ ({column: '', is: 'values', values: [], from: '', to: ''}); }

  function change() {
    drawParts();
    foresee();
  }

  /** The values of a column that are known: in the plan, or labels of the file. @param {string} name */
  function valuesOf(name) {
    const of = at(app.tree, pointer('columns', name)), values = Array.isArray(of?.values) ? of.values : null;
    const d = app.tree?.design?.stratified;
    if (values) return values.map(String);
    if (d?.by === name) return Object.keys(d.strata ?? {});
    return (app.header.find(h => h.name === name)?.codes ?? []).filter(c => !c.missing).map(c => c.code);
  }

  /** @param {string} label @param {string} value @param {(v: string) => void} set @param {string} [noneText] */
  function columnSelect(label, value, set, noneText = 'choose a column') {
    const select = el('select', {'aria-label': label, on: {change: () => { set(select.value); change(); }}});
    options(select, columnOptions(app, value, noneText));
    select.value = value;
    return select;
  }

  /** @param {string} label @param {string} value @param {(v: string) => void} set @param {any} [more] */
  function text(label, value, set, more = {}) {
    return el('input', {'aria-label': label, size: 10, autocomplete: 'off', spellcheck: 'false', ...more, value, on: {input: e => { set(e.target.value); foresee(); }}});
  }

  /** @param {import('./questions.js').Condition} c @param {string} what @param {() => void} [remove] */
  function conditionFields(c, what, remove) {
    const known = c.column ? valuesOf(c.column) : [], isNumber = at(app.tree, pointer('columns', c.column, 'from')) !== undefined;
    const is = el('select', {'aria-label': `${what}: values or a range`, on: {change: () => { c.is = is.value; change(); }}}, el('option', {value: 'values'}, 'being'), el('option', {value: 'range'}, 'from … to'));
    is.value = c.is;
    const set = v => {
      c.column = v;
      c.values = [];
      c.is = at(app.tree, pointer('columns', v, 'from')) !== undefined ? 'range' : 'values';
    };
    /** @type {any} */ let value;
    if (c.is === 'range') value = [text(`${what}: from`, c.from, v => { c.from = v; }, {size: 6, inputmode: 'decimal'}), el('span', {}, 'to'), text(`${what}: to`, c.to, v => { c.to = v; }, {size: 6, inputmode: 'decimal'})];
    else if (known.length && known.length <= 30) {
      const select = el('select', {'aria-label': `${what}: value`, on: {change: () => { c.values = [select.value].filter(v => v); change(); }}});
      options(select, [{value: '', label: 'choose'}, ...known.map(v => ({value: v, label: v}))]);
      select.value = c.values.length === 1 ? c.values[0] : '';
      const others = c.values.length ? known.filter(v => !c.values.includes(v)) : [];
      const or = el('select', {'aria-label': `${what}: or another value`, on: {change: () => { c.values = [...c.values, or.value]; change(); }}});
      options(or, [{value: '', label: '+ or'}, ...others.map(v => ({value: v, label: v}))]);
      value = [c.values.length > 1 ? el('span', {class: 'chip'}, c.values.join(' or '), button('✕', () => { c.values = []; change(); }, {class: 'bare', 'aria-label': 'Choose again'})) : select, others.length ? or : null];
    } else value = text(`${what}: value`, c.values.join(', '), v => { c.values = v.split(',').map(x => x.trim()).filter(x => x); }, {placeholder: 'value, or a, b'});
    return el('span', {class: 'group'}, columnSelect(`${what}: column`, c.column, set), c.column && !isNumber ? is : c.column ? is : null, c.column ? value : null,
      remove ? button('✕', remove, {class: 'bare', 'aria-label': `Remove ${what}`}) : null);
  }

  function drawParts() {
    const of = STATISTICS.find(s => s.value === f.kind)?.of;
    kind.value = f.kind;
    const line = (...c) => el('div', {class: 'sentence'}, c);
    const amount = (side, column, conditions, setColumn) => {
      const which = el('select', {'aria-label': `${side}: a number or a condition`, on: {change: () => {
        if (which.value === 'condition') setColumn(''), conditions.length || conditions.push(condition());
        else setColumn(app.header[0]?.name ?? '');
        change();
      }}}, el('option', {value: 'condition'}, 'units with'), el('option', {value: 'column'}, 'total of'));
      which.value = column ? 'column' : 'condition';
      return line(el('span', {}, side), which, column ? columnSelect(`${side}: column`, column, setColumn) : conditions.map((c, i) => conditionFields(c, `${side} ${i + 1}`)));
    };
    put(parts,
      of === 'number' ? line(el('span', {}, 'of'), columnSelect('of the column', f.column, v => { f.column = v; })) : null,
      of === 'condition' ? f.being.map((c, i) => line(el('span', {}, i ? 'and' : 'of'), conditionFields(c, `condition ${i + 1}`, i ? () => { f.being.splice(i, 1); change(); } : undefined))) : null,
      of === 'ratio' ? [amount('of', f.column, f.being, v => { f.column = v; }), amount('to', f.toColumn, f.to, v => { f.toColumn = v; })] : null,
      f.kind === 'quantile' ? line(el('span', {}, 'at'), text('positions', f.at, v => { f.at = v; }, {size: 20, placeholder: '0.25 0.5 0.75'})) : null,
      f.kind === 'share_below' ? line(el('span', {}, 'below'), text('line', f.line, v => { f.line = v; }, {inputmode: 'decimal'})) : null,
      f.kind === 'histogram' ? line(el('span', {}, 'in ranges that begin at'), text('cuts', f.cuts, v => { f.cuts = v; }, {size: 24, placeholder: '0, 1000, 2000'})) : null,
      line(el('span', {}, 'by'), f.by.map((g, i) => el('span', {class: 'chip'}, g.column, at(app.tree, pointer('columns', g.column, 'from')) !== undefined || g.cuts ?
        text(`cuts of ${g.column}`, g.cuts, v => { g.cuts = v; }, {placeholder: 'cuts: 16, 65'}) : null, button('✕', () => { f.by.splice(i, 1); change(); }, {class: 'bare', 'aria-label': `Remove group ${g.column}`}))),
      columnSelect('group by', '', v => { if (v && !f.by.some(g => g.column === v)) f.by.push({column: v, cuts: ''}); }, '+ group')),
      f.where.map((c, i) => line(el('span', {}, i ? 'and' : 'only where'), conditionFields(c, `only where ${i + 1}`, () => { f.where.splice(i, 1); change(); }))),
      line(f.where.length ? null : el('span', {}, 'only where'), button('+ condition', () => { f.where.push(condition()); change(); }, {class: 'small'})));
  }

  /** What the one that is being built would look like. */
  async function foresee() {
    const {statistic, missing} = statisticOf(f);
    add.disabled = !statistic;
    put(said, statistic ? `“${sentence(statistic)}”` : missing ?? '');
    put(foresight, '');
    const key = JSON.stringify(statistic ?? null) + app.text;
    if (!statistic || !app.draft?.ok || declarations(app.tree, statistic, app.header).length) {
      tried = '';
      if (statistic && declarations(app.tree, statistic, app.header).length) put(foresight, 'Its columns are asked for in the next step.');
      return;
    }
    tried = key;
    try {
      await new Promise(done => setTimeout(done, 200));
      if (tried !== key) return;
      const number = at(app.tree, '/statistics')?.length ?? 0;
      const {preview} = await app.variant([{path: '/statistics/-', value: statistic}]);
      if (tried !== key) return;
      const s = preview.statistics.find(x => x.number === number);
      trial = s;
      const cv = s && worstOf(s).shown?.cv;
      put(foresight, s?.known ? 'known from the design: exact' : cv ? `CV at most about ${cv}` : '');
      if (s) put(said, `“${upper(s.words)}”, as the report will say it.`);
    } catch (error) {
      if (error instanceof Refusal && tried === key) put(foresight, error.message);
    }
  }

  async function addIt() {
    const {statistic} = statisticOf(f);
    if (!statistic) return;
    const ok = await app.edit(tree => [...declarations(tree, statistic, app.header),
      Array.isArray(tree?.statistics) ? {path: '/statistics/-', value: statistic} : {path: '/statistics', value: [statistic]}]);
    if (!ok) return;
    app.say(`Added: ${sentence(statistic)}.`);
    f = {...empty(), kind: f.kind, being: [condition()], to: [condition()]};
    change();
    kind.focus();
  }

  function update() {
    const items = Array.isArray(app.tree?.statistics) ? app.tree.statistics : [];
    p = app.preview && app.draft?.ok ? app.preview : null;
    put(title, p?.shown?.numbers ? `Statistics: ${p.shown.numbers} numbers` : 'Statistics');
    none.hidden = items.length > 0;
    soon.hidden = !items.length || Boolean(p);
    table.hidden = !items.length;
    rows(list, items, (s, i) => `${i}:${JSON.stringify({...s, budget_share: 0})}`, () => {
      const name = el('div'), wrong = el('div', {class: 'error'}), cv = el('td', {class: 'number'}), share = el('select', {});
      const remove = button('✕', () => app.edit([{path: `/statistics/${at0()}`, value: null}]), {class: 'small'});
      let i = 0;
      const at0 = () => i;
      share.addEventListener('change', () => app.edit([{path: `/statistics/${i}/budget_share`, value: share.value === '1' && !given(i) ? null : share.value === '1/2' ? '1/2' : Number(share.value)}]));
      return Object.assign(el('tr', {}, el('th', {scope: 'row'}, name, wrong), cv, el('td', {}, share), el('td', {}, remove)), {update(s, n) {
        i = n;
        const q = p?.statistics.find(x => x.number === n), value = String(s.budget_share ?? '1');
        const words = q ? upper(q.words) : sentence(s);
        put(name, words);
        put(wrong, app.errorsAt(`/statistics/${n}`, true).map(short).join(' '));
        put(cv, q ? (q.known ? 'exact' : worstOf(q).shown?.cv ?? '–') : '–');
        options(share, IMPORTANCE.some(o => o.value === value) ? IMPORTANCE : [...IMPORTANCE, {value, label: value}]);
        if (document.activeElement !== share) share.value = value;
        share.setAttribute('aria-label', `Importance of ${words}`);
        remove.setAttribute('aria-label', `Remove ${words}`);
      }});
    });
    const now = JSON.stringify([app.header.map(h => h.name), app.tree?.columns, app.tree?.design?.stratified?.by]);
    if (now !== shape) {
      shape = now;
      if (!parts.contains(document.activeElement)) change();
    }
    add.disabled = !statisticOf(f).statistic || !app.open;
  }

  /** Whether the plan as it was opened has the key. @param {number} i */
  const given = i => app.history && at(JSON.parse(app.history.list[0].tree), `/statistics/${i}/budget_share`) !== undefined;

  return {root, update, enter: () => change()};
}
