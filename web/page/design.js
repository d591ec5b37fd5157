/* How the sample was drawn: questions that lead to a design. */

import {call} from './api.js';
import {box, button, choices, draw, el, id, put, rows} from './dom.js';
import {columnOptions, Form} from './form.js';
import {strataOf} from './lists.js';
import {answersOf, designOf, FIELDS, IN_STRATA, readDesign} from './questions.js';
import {at, isMissing, number, pointer} from './text.js';

const PAGE = 200; /* strata in sight; more on demand */

/** @param {import('./state.js').App} app */
export function build(app) {
  /** @type {Form} */ let form = new Form(app);
  /** @type {import('./questions.js').DesignAnswers} */ let answers = {drawn: '', chances: 'equal', more: 'sizes', strata: false};
  let shape = '', many = PAGE, explained = '';

  const drawn = choices('drawn', [
    {value: 'units', label: 'People (or schools, firms …) one by one', help: 'each has its own chance'},
    {value: 'groups', label: 'Groups, and everybody in them', help: 'schools with all pupils: cluster'},
    {value: 'stages', label: 'Groups, then some people in each', help: 'municipalities, then persons: two stages'},
    {value: 'all', label: 'Everybody', help: 'a census or register'},
    {value: 'weights', label: 'I only have final weights', help: 'a finished survey: weights, perhaps strata and primary sampling units. No promise about outsiders is possible.'},
  ], v => answer({drawn: v}));
  const chances = choices('chances', [
    {value: 'equal', label: 'equal'}, {value: 'size', label: 'proportional to size'},
    {value: 'itself', label: 'each by itself (Bernoulli, Poisson)'}, {value: 'kth', label: 'every k-th of a list'},
  ], v => answer({chances: v, more: v === 'itself' ? 'same' : 'sizes'}), true);
  const again = choices('again', [{value: 'sizes', label: 'nobody twice'}, {value: 'again', label: 'with replacement'}], v => answer({more: v}), true);
  const own = choices('own', [{value: 'same', label: 'the same chance for all'}, {value: 'own', label: 'a chance of its own, in a column'}], v => answer({more: v}), true);
  const moreEqual = el('details', {}, el('summary', {}, 'More'), again.node), moreItself = el('div', {class: 'sub'}, own.node);
  const chancesBox = box('With which chances?', chances.node, moreEqual, moreItself);
  const fields = box('', el('div', {class: 'grid'}));
  const inStrata = el('input', {type: 'checkbox', id: id(), on: {change: () => answer({strata: inStrata.checked})}});
  const by = el('select', {id: id(), on: {change: () => app.edit([{path: '/design/stratified/by', value: by.value}])}});
  const strata = el('tbody'), strataHead = el('tr');
  const paste = el('textarea', {rows: 6, id: id(), spellcheck: 'false', wrap: 'off'}), pasteWords = el('p', {class: 'help', role: 'status'});
  const pasteHelp = el('span');
  const pasteBox = el('div', {class: 'paste', hidden: true}, el('label', {for: paste.id}, pasteHelp), paste, pasteWords,
    el('div', {class: 'line'}, button('Use this list', usePaste, {class: 'small main'}), button('Cancel', () => { pasteBox.hidden = true; }, {class: 'small'})));
  paste.addEventListener('input', () => readPaste());
  const newName = el('input', {id: id(), size: 14, autocomplete: 'off', placeholder: 'name'});
  const addStratum = el('form', {class: 'line', on: {submit: e => {
    e.preventDefault();
    const name = newName.value.trim();
    if (!name) return;
    newName.value = '';
    app.edit([{path: pointer('design', 'stratified', 'strata', name), value: {}}]);
    newName.focus();
  }}}, el('label', {for: newName.id}, 'Another stratum'), newName, el('button', {class: 'button small'}, 'Add'));
  const showMore = button('Show more', () => { many += PAGE; update(); }, {class: 'small', hidden: true});
  const strataTable = el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Strata'}, el('table', {class: 'strata'}, el('caption', {class: 'hidden'}, 'Strata'), el('thead', {}, strataHead), strata));
  const strataPart = el('div', {}, el('div', {class: 'line'}, el('label', {for: by.id}, 'by the column'), by,
    button('Paste from a spreadsheet', () => { pasteBox.hidden = false; paste.focus(); }, {class: 'small'})), pasteBox, strataTable, showMore, addStratum);
  const strataBox = box('Separately in strata?', el('label', {class: 'inline'}, inStrata, el('span', {}, 'Yes, the sample was drawn in each stratum by itself')), strataPart);
  const answered = choices('answered', [{value: 'no', label: 'Yes, or the file has a row for each'}, {value: 'yes', label: 'No, the file has respondents only'}],
    v => app.edit([{path: '/design/nonresponse', value: v === 'yes' ? true : null}]), true);
  const calibrate = el('div', {class: 'sub'});
  const answeredBox = box('Did everybody answer?', answered.node, calibrate);
  const weightsBox = el('div');
  const words = el('div', {class: 'note'});
  const root = el('div', {class: 'screen'}, el('h1', {}, 'How was the sample drawn?'), el('p', {class: 'lead'}, 'A few questions lead to one of the eleven designs. Everything here is public.'),
    box('What was drawn?', drawn.node), chancesBox, strataBox, fields, weightsBox, answeredBox, words);

  /** @param {Partial<import('./questions.js').DesignAnswers>} change */
  function answer(change) {
    answers = {...answers, ...change};
    if (!answers.drawn) answers.drawn = 'units';
    app.edit(tree => {
      const old = tree?.design && typeof tree.design === 'object' ? tree.design : null;
      return [{path: '/design', value: designOf(answers, old)}];
    });
  }

  const keys = () => (IN_STRATA[readDesign(app.tree?.design)?.kind ?? 'srs'] ?? []).map(f => f.key);

  function readPaste() {
    const {strata: list, problems} = strataOf(paste.value, keys());
    put(pasteWords, problems.length ? problems.slice(0, 3).join('; ') : list.length ? `${list.length} strata, from ${list[0][0]} to ${list[list.length - 1][0]}` : '');
    return {list, problems};
  }

  async function usePaste() {
    const {list, problems} = readPaste();
    if (problems.length || !list.length) return paste.focus();
    if (await app.edit([{path: '/design/stratified/strata', value: Object.fromEntries(list)}])) {
      pasteBox.hidden = true;
      paste.value = '';
    }
  }

  /** @param {string} old @param {string} name */
  function rename(old, name) {
    const map = at(app.tree, '/design/stratified/strata') ?? {};
    if (!name || name === old || Object.hasOwn(map, name)) return;
    app.edit([{path: '/design/stratified/strata', value: Object.fromEntries(Object.entries(map).map(([k, v]) => [k === old ? name : k, v]))}]);
  }

  function stratumRow(item) {
    const name = el('input', {size: 14, autocomplete: 'off', 'aria-label': 'Name of the stratum', on: {change: () => rename(item.name, name.value.trim())}});
    const inputs = keys().map(key => {
      const path = pointer('design', 'stratified', 'strata', item.name, key);
      const input = el('input', {size: 9, inputmode: 'decimal', autocomplete: 'off', on: {input: () => app.edit([{path, value: number(input.value)}], path)}});
      return {key, path, input};
    });
    return Object.assign(el('tr', {}, el('td', {}, name), inputs.map(i => el('td', {class: 'number'}, i.input)),
      el('td', {class: 'act'}, button('✕', () => app.edit([{path: pointer('design', 'stratified', 'strata', item.name), value: null}]), {class: 'small', 'aria-label': `Remove ${item.name}`}))), {
      update(now) {
        if (document.activeElement !== name) name.value = now.name;
        for (const {key, path, input} of inputs) {
          const value = now.of?.[key];
          if (document.activeElement !== input) input.value = value === undefined || value === 'FILL_IN' ? '' : String(value);
          input.setAttribute('aria-label', `${(IN_STRATA[shape.split(':')[0]] ?? []).find(f => f.key === key)?.label ?? key} of ${now.name}`);
          input.setAttribute('aria-invalid', String(app.errorsAt(path).length > 0));
        }
      },
    });
  }

  /** @param {NonNullable<ReturnType<typeof readDesign>>} d */
  function rebuild(d) {
    form = new Form(app);
    const sized = d.strata ? (IN_STRATA[d.kind] ?? []).map(f => f.key) : [];
    const list = FIELDS[d.kind].filter(f => !sized.includes(f.key) && !sized.includes(f.key.replace('first/', '')));
    put(fields.querySelector('.grid'), list.map(f => form.field({
      path: d.strata ? `/design/stratified/within/${d.kind}/${f.key}` : `/design/${d.kind}/${f.key}`, label: f.label + (f.need || /if /.test(f.label) ? '' : ' (if there is one)'), help: f.help,
      kind: f.kind === 'whole' || f.kind === 'number' ? 'number' : f.kind === 'take' ? 'text' : f.kind === 'choice' ? 'select' : f.kind,
      options: () => [{value: '', label: 'choose'}, ...(f.options ?? [])], write: f.kind === 'take' || f.kind === 'file' ? (f.kind === 'take' ? number : undefined) : undefined,
      none: f.need ? 'choose a column' : 'none', need: f.need,
    })));
    fields.hidden = !list.length;
    put(fields.querySelector('legend'), d.strata ? 'In each stratum' : d.kind === 'weights' ? 'What is known about the design?' : 'Its sizes');
    const weight = ['weights', 'poisson', 'pps', 'two_stage'].includes(d.kind);
    const guesses = d.kind === 'weights' || d.kind === 'cluster' || d.kind === 'two_stage' || d.kind === 'poisson';
    put(weightsBox, weight ? box('The weights', el('div', {class: 'grid'},
      d.kind === 'weights' ? form.field({path: '/design/weight', kind: 'column', label: 'Column with the weight'}) : null,
      form.field({path: '/design/max_weight', kind: 'number', label: 'No weight is larger than', help: d.kind === 'weights' || d.kind === 'two_stage' ? 'public, from the design, never from this file; larger ones are clamped' : 'not needed with a file of everybody'}),
      d.kind === 'weights' ? form.field({path: '/design/weights_are', kind: 'select', default: 'design', label: 'They are', options: () => [{value: 'design', label: 'those of the design'}, {value: 'final', label: 'final: adjusted or calibrated'}], help: 'What final weights reveal is not covered by the promise.'}) : null)) : null,
    guesses ? el('details', {class: 'part', open: d.kind === 'weights'}, el('summary', {}, 'Public guesses, for the forecast'), el('div', {class: 'grid'},
      d.kind === 'weights' || d.kind === 'poisson' ? [form.field({path: '/design/typical/population', kind: 'number', label: 'Size of the population, about'}), form.field({path: '/design/typical/sample', kind: 'number', label: 'Size of the sample, about'})] : null,
      d.kind !== 'poisson' ? [form.field({path: '/design/typical/cluster', kind: 'number', label: 'Mean size of a group', read: v => (v && typeof v === 'object' ? v.mean ?? '' : v ?? ''), write: t => {
        const old = at(app.tree, '/design/typical/cluster');
        return t.trim() === '' ? null : old && typeof old === 'object' ? {...old, mean: number(t)} : number(t);
      }}), form.field({path: '/design/typical/icc', kind: 'number', label: 'How alike members of a group are', help: 'intraclass correlation, such as 0.05'})] : null)) : null);
    put(strataHead, el('th', {scope: 'col'}, 'Stratum'), (IN_STRATA[d.kind] ?? []).map(f => el('th', {scope: 'col', class: 'number'}, f.label)), el('th', {scope: 'col'}, 'Remove'));
    strata.replaceChildren();
  }

  function update() {
    const d = readDesign(app.tree?.design);
    const now = d ? `${d.kind}:${d.strata}` : '';
    if (d) answers = answersOf(d.kind, d.strata);
    drawn.set(d ? answers.drawn : null);
    chances.set(d ? answers.chances : null);
    again.set(answers.more);
    own.set(answers.more);
    if (answers.more === 'again') moreEqual.open = true;
    chancesBox.hidden = !d || answers.drawn !== 'units';
    moreEqual.hidden = answers.chances !== 'equal';
    moreItself.hidden = answers.chances !== 'itself';
    strataBox.hidden = !d || answers.drawn === 'weights';
    inStrata.checked = Boolean(d?.strata);
    strataPart.hidden = !d?.strata;
    fields.hidden = fields.hidden || !d;
    answeredBox.hidden = !d;
    if (now !== shape) {
      shape = now;
      many = PAGE;
      if (d) rebuild(d);
      else {
        form = new Form(app);
        fields.hidden = true;
        put(weightsBox, '');
      }
    }
    form.update();
    if (d?.strata) {
      const value = at(app.tree, '/design/stratified/by') ?? '';
      setOptions(by, columnOptions(app, value === 'FILL_IN' ? '' : value, 'choose a column'), value);
      const list = Object.entries(at(app.tree, '/design/stratified/strata') ?? {}).map(([name, of]) => ({name, of}));
      rows(strata, list.slice(0, many), s => s.name, stratumRow);
      showMore.hidden = list.length <= many;
      strataTable.hidden = !list.length;
      put(pasteHelp, `Lines of name, ${keys().join(', ')}, as copied from a spreadsheet`);
    }
    const nonresponse = /^(yes|true)$/i.test(String(at(app.tree, '/design/nonresponse') ?? ''));
    answered.set(nonresponse ? 'yes' : 'no');
    const to = at(app.tree, '/calibrate/to');
    put(calibrate, nonresponse ? [el('p', {class: 'help'}, 'Numbers and totals then need public counts to be calibrated to; means and shares do not. ', to !== undefined ? 'The plan has such counts.' : 'Write them under “calibrate” in the plan:'),
      to === undefined ? el('pre', {class: 'shell', tabindex: 0, 'aria-label': 'Example of calibrate'}, 'calibrate:\n  to:\n    - {count: units, by: sex, totals: {f: 51000, m: 49000}}') : null] : '');

    /* what the library calls it */
    const p = app.preview, errors = app.errorsOf('design');
    if (!d) draw(words, 'none', () => 'Answer the first question: the others follow.');
    else if (errors.length) draw(words, errors, () => [el('strong', {}, 'Still to do: '), errors.slice(0, 4).map(e => asked(d, e)).join('; '), '.']);
    else {
      const said = p && app.draft?.ok ? p.shown?.design : null;
      const more = explain(d.strata ? 'stratified' : d.kind);
      draw(words, [said, more], () => [el('p', {}, el('strong', {}, said ?? 'The design is complete.')), el('p', {}, 'Sizes, strata and groups are known to everybody and are not protected.'),
        more && el('details', {}, el('summary', {}, 'What sampling adds to privacy here'), el('p', {}, more.what), el('p', {}, 'Outsiders: ', more.amplification))]);
    }
    words.className = errors.length ? 'note warn' : 'note';
  }

  /** An error in the words of the questions. @param {{kind: string, strata: boolean}} d @param {any} e */
  function asked(d, e) {
    const key = /expected the key (\w+)/.exec(e.message)?.[1], stratum = /^design\.stratified\.strata\.(.+)$/.exec(e.key ?? '')?.[1];
    if (!key || !isMissing(e)) return e.message;
    if (stratum) return `${(IN_STRATA[d.kind] ?? []).find(f => f.key === key)?.label ?? key} of ${stratum}`;
    if (key === 'max_weight') return 'a bound of the weights';
    const field = FIELDS[d.kind].find(f => f.key === key || f.key.endsWith('/' + key));
    return field ? `“${field.label}”` : e.message;
  }

  /** @type {any} */ let text = null;
  /** What sampling adds to privacy, as the library explains it. @param {string} topic */
  function explain(topic) {
    if (explained !== topic) {
      explained = topic;
      text = null;
      call('explain', {topic}).then(x => { text = x; update(); }, () => { /* it stays unsaid */ });
    }
    return text;
  }

  return {root, update};
}

/** @param {any} select @param {any[]} list @param {string} value */
function setOptions(select, list, value) {
  const key = JSON.stringify(list);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...list.map(o => el('option', {value: o.value}, o.label)));
  }
  if (document.activeElement !== select) select.value = value;
}
