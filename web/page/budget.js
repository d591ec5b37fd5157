/* How exact, and how private: the wanted errors, the slider, what helps, alternatives beside each other. */

import {call, Refusal} from './api.js';
import {box, button, card, draw, el, id, props, put, rows} from './dom.js';
import {Form} from './form.js';
import {bar, groupName, meaningOf, picture, quality, worstOf} from './show.js';
import {at, isMissing, marks, pointer, STEPS} from './text.js';

const STOPS = ['0.1', '0.15', '0.2', '0.3', '0.5', '0.7', '1', '1.5', '2', '3', '5', '7', '10'];
const LARGE = 3, LARGE_ODDS = 20; /* from this epsilon, and these odds, on a sentence says what it means */

/** @param {import('./state.js').App} app */
export function build(app) {
  const form = new Form(app);
  /** @type {{name: string, changes: any[], preview: any, tree: any, words: string}[]} */
  let tried = [];
  let all = false, table = false;
  let ahead = '', found = ''; /* the text that the answer below the slider is about */

  /* ---- the loss ---- */
  const slider = el('input', {type: 'range', min: 0, max: STOPS.length - 1, step: 1, id: id(), 'aria-label': 'Privacy loss, from more private to more exact'});
  slider.addEventListener('input', () => app.edit([{path: '/privacy/epsilon', value: STOPS[slider.value]}], 'slider'));
  const kind = el('select', {id: id()}, [['epsilon', 'epsilon'], ['delta', 'epsilon and delta'], ['rho', 'rho']].map(([v, l]) => el('option', {value: v}, l)));
  kind.addEventListener('change', () => changeKind(kind.value));
  const cv = el('input', {id: id(), size: 5, value: '16.5', inputmode: 'decimal', autocomplete: 'off'});
  const find = button('Find epsilon', () => search(), {class: 'small'});
  const answer = el('p', {class: 'answer', role: 'status'});
  const large = el('p', {class: 'note warn', hidden: true});
  const loss = form.field({path: () => (at(app.tree, '/privacy/rho') !== undefined ? '/privacy/rho' : '/privacy/epsilon'), kind: 'number', label: 'epsilon', size: 6});
  const delta = form.field({path: '/privacy/delta', kind: 'number', label: 'delta', size: 8, help: 'such as 1e-6: the chance that the promise of epsilon fails'});
  const legend = el('span', {});
  const sliderRow = el('div', {class: 'slide'}, el('span', {}, 'more private'), slider, el('span', {}, 'more exact'));
  const lossBox = box(legend, sliderRow,
    el('div', {class: 'line spread'}, loss,
      el('div', {class: 'line'}, el('label', {for: cv.id}, 'or: every CV below'), cv, el('span', {}, '%'), find)),
    answer, large,
    el('details', {}, el('summary', {}, 'Details: the kind of promise'),
      el('div', {class: 'line'}, el('label', {for: kind.id}, 'The loss is counted in'), kind, delta),
      el('p', {class: 'help'}, 'Epsilon alone is the simplest promise: it holds whatever happens. With a delta, or in rho, the noise is Gaussian, and smaller for many numbers at once.')));

  /** @param {string} to */
  function changeKind(to) {
    const p = app.tree?.privacy ?? {}, b = app.tree?.budget ?? {};
    const eps = p.epsilon ?? '1';
    if (to === 'rho') app.edit([{path: '/privacy/epsilon', value: null}, {path: '/privacy/delta', value: null}, {path: '/privacy/rho', value: p.rho ?? '0.5'},
      ...(b.rho === undefined ? [{path: '/budget', value: {rho: 1}}] : [])]);
    else if (to === 'delta') app.edit([{path: '/privacy/rho', value: null}, {path: '/privacy/epsilon', value: eps}, {path: '/privacy/delta', value: p.delta ?? '1e-6'},
      {path: '/budget', value: {epsilon: b.epsilon ?? eps, delta: b.delta ?? '1e-6'}}]);
    else app.edit([{path: '/privacy/rho', value: null}, {path: '/privacy/delta', value: null}, {path: '/privacy/epsilon', value: eps},
      ...(b.epsilon === undefined ? [{path: '/budget', value: {epsilon: eps}}] : b.delta !== undefined ? [{path: '/budget/delta', value: null}] : [])]);
  }

  async function search() {
    const share = cv.value.replace(/[%\s]/g, '').replace(',', '.');
    if (!/^\d+(\.\d+)?$/.test(share)) return put(answer, 'Write a percentage, such as 16.5.');
    find.disabled = true;
    put(answer, 'Looking for it …');
    try {
      const {study, svg} = await call('epsilon', {file: app.file, text: app.text, share: hundredth(share), svg: true});
      const key = study.rho !== undefined ? 'rho' : 'epsilon', value = String(study.shown?.[key] ?? study[key]);
      await app.edit([{path: '/privacy/' + key, value}]);
      const unknown = [...new Set(study.results.filter(r => r.allowed === null).map(r => r.statistic))];
      put(answer, `${key} ${value} is the smallest at which every CV ${unknown.length ? 'that is known ' : ''}is expected to be below ${share} %. It is in the plan now.`,
        unknown.length ? el('span', {class: 'warn'}, ` Not counted, because their size is not known: ${unknown.join(', ')}. Guesses for them are asked for below.`) : '',
        svg ? el('details', {}, el('summary', {}, 'Picture: errors and epsilon'), picture(svg, 'Expected errors at several values of epsilon')) : '');
      found = app.text;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      put(answer, error.message);
      found = app.text;
    } finally {
      find.disabled = false;
    }
  }

  /* ---- the errors ---- */
  const body = el('tbody'), lines = el('table', {class: 'errors'},
    el('caption', {class: 'hidden'}, 'Expected error of each statistic'),
    el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Statistic'), el('th', {scope: 'col', class: 'wide'}, 'Expected error, in % of its size'),
      el('th', {scope: 'col', class: 'number'}, 'CV'), el('th', {scope: 'col'}, 'Quality'))), body);
  const plain = el('div', {hidden: true, class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Errors as a table'});
  const more = button('One line per number', () => { all = !all; update(); }, {class: 'link', 'aria-pressed': 'false'});
  const asTable = button('as a table', () => { table = !table; update(); }, {class: 'link', 'aria-pressed': 'false'});
  const key = el('p', {class: 'help'}, el('span', {class: 'swatch sampling', 'aria-hidden': 'true'}), ' sampling, which no budget changes  ',
    el('span', {class: 'swatch noise', 'aria-hidden': 'true'}), ' added by the noise. Lines: 16.5 % (E from there) and 33.3 % (F); a share is judged by the width of its interval. ', more, ' · ', asTable);
  const stale = el('p', {class: 'note'});
  const assumed = el('section', {class: 'part'});

  function lineOf(item) {
    const name = el('div'), sub = el('div', {class: 'help'}), picture = el('td', {class: 'wide'}), value = el('td', {class: 'number'}), letter = el('td');
    return Object.assign(el('tr', {}, el('th', {scope: 'row'}, name, sub), picture, value, letter), {
      update({s, g}) {
        const worst = g ?? worstOf(s);
        put(name, g ? groupName(g.group) : upper(s.words));
        put(sub, g ? s.words : s.known ? 'known from the design: no noise, no cost' : s.groups?.length > 1 ? `worst: ${groupName(worst.group)}` : '');
        const known = typeof worst.cv === 'number';
        put(value, s.known ? 'exact' : worst.shown?.cv ?? '–');
        put(picture, s.known ? '' : bar(worst, known ? `CV ${worst.shown?.cv}: sampling ± ${worst.shown?.sampling_se}, noise ± ${worst.shown?.noise_sd}` :
          `noise ± ${worst.shown?.noise_sd}; how large that is relative to the number is not known`, !known || assumedIn(s)));
        put(letter, s.known ? '' : quality(worst.quality, known));
      },
    });
  }

  /** Whether the CV rests on what the preview had to assume. @param {any} s */
  const assumedIn = s => (app.preview?.assumed ?? []).some(a => (a.columns ?? []).some(c => c === s.column));

  /* ---- what helps ---- */
  const help = el('tbody'), helps = el('section', {class: 'part'}, el('h2', {}, 'What would help most'),
    el('table', {}, el('caption', {class: 'hidden'}, 'What would lower the errors'), el('thead', {class: 'hidden'}, el('tr', {}, el('th', {scope: 'col'}, 'Statistic'), el('th', {scope: 'col'}, 'Change'), el('th', {scope: 'col'}, 'Try it'))), help));

  /** @param {any} s @param {any} c */
  const wordsOf = (s, c) => changeWords(s, c).replace(/ %/g, '\u00a0%');

  /** @param {any} s @param {any} c */
  function changeWords(s, c) {
    const lower = c.shown?.error_lower_by ? `: error ${c.shown.error_lower_by} lower` : '';
    const eps = c.shown?.epsilon ?? c.epsilon, rho = c.shown?.rho ?? c.rho;
    const amount = rho !== undefined ? `rho ${rho}` : `epsilon ${eps}`;
    switch (c.change) {
    case 'twice_the_budget': return `twice the budget (${amount})${lower}`;
    case 'delta': return `a delta of 1e-6${lower}`;
    case 'secret_sample': return `if nobody outside knows who was sampled (${amount} then)${lower}`;
    case 'half_the_range': return `half the range of ${rangeColumn(s) ?? 'the column'}, which clamps values${lower}; no cost in privacy`;
    case 'half_the_groups': return `groups taken together in pairs${lower}; no cost in privacy`;
    default: return c.change.replace(/_/g, ' ') + lower;
    }
  }

  /** @param {any} s */
  const rangeColumn = s => Object.keys(app.tree?.columns ?? {}).find(n => n === s.column);

  /** The changes of the plan that a piece of advice stands for; null: people have to decide more. @param {any} s @param {any} c */
  function changesOf(s, c) {
    const p = app.tree?.privacy ?? {};
    const losses = [...(c.epsilon !== undefined && p.epsilon !== undefined ? [{path: '/privacy/epsilon', value: c.shown?.epsilon ?? c.epsilon}] : []),
      ...(c.rho !== undefined && p.rho !== undefined ? [{path: '/privacy/rho', value: c.shown?.rho ?? c.rho}] : [])];
    if (c.change === 'twice_the_budget') return losses.length ? losses : null;
    if (c.change === 'delta') return [{path: '/privacy/delta', value: '1e-6'}, ...(at(app.tree, '/budget/delta') === undefined ? [{path: '/budget/delta', value: '1e-6'}] : [])];
    if (c.change === 'secret_sample')
      return [{path: '/privacy/protect', value: 'frame'}, {path: '/privacy/given', value: 'population'}, {path: '/privacy/secret_sample', value: true}, ...losses];
    if (c.change === 'half_the_range') {
      const column = rangeColumn(s), of = column && app.tree.columns[column];
      const [from, to, step] = [of?.from, of?.to, of?.step].map(Number);
      if (!column || ![from, to, step].every(Number.isFinite)) return null;
      const end = from + Math.floor((to - from) / 2 / step) * step;
      return end > from ? [{path: pointer('columns', column, 'to'), value: String(Number(end.toPrecision(12)))}] : null;
    }
    return null;
  }

  /** @param {string} words @param {any[]} changes */
  async function attempt(words, changes) {
    try {
      const {preview, tree} = await app.variant(changes);
      const name = ['A', 'B', 'C'].find(n => !tried.some(t => t.name === n)) ?? 'C';
      tried = [...tried.filter(t => t.name !== name), {name, words, changes, preview, tree}].slice(-3);
      update();
      app.say(`${name} is beside the plan: ${words}.`);
    } catch (error) {
      app.fail(error);
    }
  }

  /* ---- the promise, alternatives, the account ---- */
  const promise = el('div'), promises = el('section', {class: 'card'}, el('h2', {}, 'What it promises'), promise);
  const beside = el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Plan and alternatives'});
  const besides = el('section', {class: 'part'}, el('h2', {}, 'Beside each other'), beside);
  const spent = el('p', {});
  const budgetField = form.field({path: () => (at(app.tree, '/budget/rho') !== undefined ? '/budget/rho' : '/budget/epsilon'), kind: 'number', size: 6,
    label: 'All releases of this survey together may ever spend', need: true, help: 'Decide once, from what people were promised. The first release fixes it.'});
  const account = card('The account', budgetField, spent);

  const left = el('div', {class: 'main-column'}, lossBox, stale, lines, plain, key, assumed, helps, besides);
  const root = el('div', {class: 'screen'}, el('h1', {}, 'How exact, and how private?'),
    el('p', {class: 'lead'}, 'Choose what the numbers must be good for, or move the slider. Nothing is read or spent on this page.'),
    el('div', {class: 'columns'}, left, el('div', {class: 'side-column'}, promises, account)));

  function update() {
    form.update();
    const p = app.draft?.ok ? app.preview : null, privacy = app.tree?.privacy ?? {}, unit = privacy.unit && privacy.unit !== 'FILL_IN' ? privacy.unit : 'person';
    const rho = privacy.rho !== undefined;
    put(legend, `Privacy loss of a sampled ${unit}`);
    put(loss.querySelector('label'), rho ? 'rho' : 'epsilon');
    kind.value = rho ? 'rho' : privacy.delta !== undefined ? 'delta' : 'epsilon';
    delta.hidden = kind.value !== 'delta';
    sliderRow.hidden = rho;
    const eps = Number(privacy.epsilon);
    if (document.activeElement !== slider || !STOPS.includes(String(privacy.epsilon))) {
      let near = 0;
      STOPS.forEach((s, i) => { if (Math.abs(Math.log(Number(s) / eps)) < Math.abs(Math.log(Number(STOPS[near]) / eps))) near = i; });
      slider.value = String(near);
    }
    slider.setAttribute('aria-valuetext', `epsilon ${privacy.epsilon ?? ''}`);
    slider.disabled = !app.readable;
    find.textContent = rho ? 'Find rho' : 'Find epsilon';
    find.disabled = !app.draft?.ok;
    if (found && found !== app.text) put(answer, ''), found = '';
    const neighbour = meaningOf(p, 'nosy neighbour'), odds = neighbour?.shown?.odds;
    const much = neighbour?.odds ? neighbour.odds.upper > LARGE_ODDS : eps >= LARGE;
    large.hidden = !much;
    if (much) put(large, odds ? `The odds of a guess about one ${unit} may grow ${odds} times. That is hard to defend in public: look at smaller values first.` :
      `This is a large loss: look at smaller values first.`);

    /* errors */
    const ready = p && app.draft?.ok;
    put(stale, ready ? '' : app.draft?.ok ? app.previewError?.message ?? '' : whatIsMissing());
    stale.hidden = Boolean(ready && !app.previewError);
    if (ready && app.previewError) put(stale, app.previewError.message), stale.hidden = false;
    lines.setAttribute('aria-busy', String(app.waiting));
    const list = (p?.statistics ?? []).flatMap(s => (all && s.groups?.length ? s.groups.map((g, i) => ({s, g, i})) : [{s, g: null, i: -1}]));
    rows(body, list, x => `${x.s.number}:${x.i}`, lineOf);
    lines.hidden = table || !p;
    key.hidden = !p;
    props(more, {'aria-pressed': String(all)});
    props(asTable, {'aria-pressed': String(table)});
    plain.hidden = !table || !p;
    if (table && p) put(plain, numbersTable(p));
    /** @type {any[]} */ const list2 = [];
    for (const a of p?.assumed ?? []) {
      const same = list2.find(x => JSON.stringify(x.columns ?? []) === JSON.stringify(a.columns ?? []));
      if (same) same.assumed += '; ' + a.assumed;
      else list2.push({...a});
    }
    assumed.hidden = !list2.length;
    if (list2.length) draw(assumed, list2, () => [el('h2', {}, 'What had to be assumed'), el('p', {class: 'help'}, 'The frame of a bar is dashed where its size is only assumed. Guesses from last year or another survey make the forecast mean something; a wrong one costs accuracy, never privacy.'),
      el('ul', {class: 'plain'}, list2.map(a => el('li', {}, el('span', {}, a.columns?.length ? el('strong', {}, a.columns.slice(0, 6).join(', '), ': ') : null, a.assumed, ' '),
        button('Answer', () => answerTo(a), {class: 'small', 'aria-label': `Answer: ${a.assumed}`}))))]);

    /* advice */
    /* the largest gains first, and not only one kind of change */
    const many = new Map(), advice = (p?.statistics ?? []).flatMap(s => (s.changes ?? []).map(c => ({s, c}))).filter(x => x.c.error_lower_by > 0.02)
      .sort((a, b) => b.c.error_lower_by - a.c.error_lower_by)
      .filter(({c}) => many.set(c.change, (many.get(c.change) ?? 0) + 1).get(c.change) <= 2).slice(0, 8);
    helps.hidden = !advice.length;
    rows(help, advice, x => `${x.s.number}:${x.c.change}:${x.c.epsilon ?? ''}`, () => {
      const name = el('th', {scope: 'row'}), words = el('td'), act = el('td', {class: 'act'});
      let now = null;
      const go = button('Try', () => now && attempt(now.words, now.changes), {class: 'small'});
      act.append(go);
      return Object.assign(el('tr', {}, name, words, act), {update({s, c}) {
        const text = wordsOf(s, c), changes = changesOf(s, c);
        now = changes && {words: text.replace(/:.*/, ''), changes};
        put(name, upper(s.words));
        put(words, text);
        go.hidden = !changes;
        go.setAttribute('aria-label', `Try: ${text}`);
      }});
    });

    /* the promise */
    put(promises.querySelector('h2'), p?.shown?.sample ? `What it promises at ${p.shown.sample}` : 'What it promises');
    draw(promise, [p?.shown, p?.guarantee?.outsider_reason], () => promiseOf(p, unit));

    /* beside each other */
    besides.hidden = !p || !(advice.length || tried.length);
    if (p) draw(beside, [p.shown, p.statistics.map(s => [s.words, worstOf(s).shown]), tried.map(t => [t.name, t.words])], () => compareTable(p));

    /* account */
    const s = p?.shown;
    put(spent, p?.refusal ? p.refusal.message : s ? [s.spent ? `Spent so far: ${s.spent}. ` : 'Nothing spent yet. ', `This release: ${s.would_spend}. `,
      s.would_leave ? `Left after it: ${s.would_leave}.` : at(app.tree, '/budget') === undefined ? 'Say above how much it may ever be.' : ''] : '');
    spent.className = p?.refusal ? 'note bad' : '';
    neighbours();
  }

  function whatIsMissing() {
    const all = marks(app.draft), open = STEPS.filter(s => s.name !== 'budget' && s.name !== 'plan' && (all[s.name].missing || all[s.name].wrong));
    const own = app.errorsOf('budget').filter(e => !isMissing(e)), rest = app.errorsOf('plan');
    return [el('strong', {}, 'No forecast yet. '), open.length ? ['First: ', open.map((s, i) => [i ? ', ' : '', el('a', {href: '#' + s.name}, s.title)]), '. '] : '',
      own.map(e => e.message).join('; '), rest.length ? [' ', el('a', {href: '#plan'}, 'Errors of the plan')] : ''];
  }

  /** @param {any} a */
  function answerTo(a) {
    if (a.columns?.length) {
      app.wanted = a.columns[0];
      location.hash = '#columns';
    } else location.hash = '#design';
  }

  /** @param {any} p @param {string} unit */
  function promiseOf(p, unit) {
    if (!p) return el('p', {class: 'help'}, 'Shown as soon as the plan is complete.');
    const near = meaningOf(p, 'nosy neighbour'), far = meaningOf(p, 'outsider');
    const line = (who, m) => el('tr', {}, el('th', {scope: 'row'}, who), el('td', {class: 'number'}, el('strong', {}, m?.shown?.posterior?.['0.1'] ?? '–')));
    return [el('table', {}, el('caption', {class: 'hidden'}, 'Promise'), el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'A suspicion of 10 % of a … becomes'), el('th', {scope: 'col', class: 'number'}, 'at most'))),
      el('tbody', {}, line('neighbour who knows who was asked', near), far ? line('outsider', far) : null)),
    near?.shown ? el('p', {class: 'help'}, far?.shown ? `Odds grow at most ${near.shown.odds} and ${far.shown.odds} times.` : `Odds of a guess grow at most ${near.shown.odds} times.`) : null,
    !far && p.guarantee.outsider_reason ? el('details', {}, el('summary', {}, 'No separate promise to outsiders'), el('p', {class: 'help'}, p.guarantee.outsider_reason)) : null];
  }

  function compareTable(p) {
    const head = t => el('th', {scope: 'col', class: 'number'}, t);
    const posterior = (x, who = 'nosy neighbour') => meaningOf(x, who)?.shown?.posterior?.['0.1'] ?? '–';
    const options = tried.map(t => t.preview), spends = x => x.shown?.would_spend?.replace(' ', '\u00a0') ?? '–';
    const cell = x => el('td', {class: 'number'}, x);
    if (!tried.length) return el('p', {class: 'help'}, '“Try” puts a change here, beside the plan, and changes nothing. “Take” writes it into the plan.');
    return [
      el('table', {class: 'compare'}, el('caption', {class: 'hidden'}, 'The plan and the alternatives'),
        el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Compared'), head('Plan'), tried.map(t => head(t.name)))),
        el('tbody', {},
          el('tr', {}, el('th', {scope: 'row'}, 'spends'), cell(spends(p)), options.map(o => cell(spends(o)))),
          el('tr', {}, el('th', {scope: 'row'}, 'neighbour, 10 % →'), cell(posterior(p)), options.map(o => cell(posterior(o)))),
          [p, ...options].some(x => meaningOf(x, 'outsider')) ? el('tr', {}, el('th', {scope: 'row'}, 'outsider, 10 % →'), [p, ...options].map(x => cell(posterior(x, meaningOf(x, 'outsider') ? 'outsider' : undefined)))) : null,
          p.statistics.filter(s => !s.known).slice(0, 12).map(s => el('tr', {}, el('th', {scope: 'row'}, `${s.words}, CV`), cell(worstOf(s).shown?.cv ?? '–'),
            options.map(o => { const x = o.statistics.find(y => y.number === s.number); return cell(x ? worstOf(x).shown?.cv ?? '–' : '–'); }))))),
      el('ul', {class: 'plain tried'}, tried.map(t => el('li', {}, el('strong', {}, t.name), ` ${t.words} `,
        t.preview.refusal ? el('span', {class: 'warn'}, 'more than the account allows ') : null,
        button(`Take ${t.name}`, async () => {
          await app.edit(t.changes);
          tried = tried.filter(x => x !== t);
          update();
        }, {class: 'small main'}), ' ',
        button('Drop', () => { tried = tried.filter(x => x !== t); update(); }, {class: 'small', 'aria-label': `Drop ${t.name}`})))),
    ];
  }

  function numbersTable(p) {
    const head = (t, n = true) => el('th', {scope: 'col', class: n ? 'number' : null}, t);
    return el('table', {}, el('caption', {class: 'hidden'}, 'Expected errors'), el('thead', {}, el('tr', {}, head('Number', false), head('Sampling ±'), head('Noise ±'), head('Both ±'), head('CV'), head('Quality', false))),
      el('tbody', {}, p.statistics.flatMap(s => (s.groups?.length ? s.groups : [s]).map(g => el('tr', {},
        el('th', {scope: 'row'}, upper(s.words), g.group ? `: ${groupName(g.group)}` : ''), ['sampling_se', 'noise_sd', 'se', 'cv'].map(k => el('td', {class: 'number'}, s.known ? '–' : g.shown?.[k] ?? '–')),
        el('td', {}, s.known ? 'exact' : quality(g.quality, typeof g.cv === 'number')))))));
  }

  /* After a rest the neighbouring stops are asked for as well, so that the slider answers at once. */
  async function neighbours() {
    const privacy = app.tree?.privacy ?? {}, i = STOPS.indexOf(String(privacy.epsilon));
    if (i < 0 || !app.preview?.advised || app.previewText !== app.text || ahead === app.text || location.hash !== '#budget') return;
    ahead = app.text;
    for (const j of [i + 1, i - 1]) {
      if (ahead !== app.text || !STOPS[j]) continue;
      try {
        await app.variant([{path: '/privacy/epsilon', value: STOPS[j]}]);
      } catch { /* asked for again when it is wanted */ }
    }
  }

  return {root, update};
}

/** @param {string} text */
export const upper = text => text.slice(0, 1).toUpperCase() + text.slice(1);

/** A percentage as an exact share: the point moves by two digits. @param {string} text such as 16.5 */
export function hundredth(text) {
  const [whole, rest = ''] = text.split('.');
  const digits = whole.padStart(3, '0');
  return `${digits.slice(0, -2).replace(/^0+(?=\d)/, '')}.${digits.slice(-2)}${rest}`;
}
