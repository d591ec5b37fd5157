/* The frame around the screens: steps, header, footer, keys. A screen is built once, when it is first opened, and then updated. */

import {call, Refusal, takeToken} from './api.js';
import {button, el, put, rows} from './dom.js';
import {App} from './state.js';
import {marks, STEPS} from './text.js';
import * as data from './data.js';
import * as design from './design.js';
import * as protection from './protected.js';
import * as statistics from './statistics.js';
import * as columns from './columns.js';
import * as budget from './budget.js';
import * as plan from './plan.js';
import * as release from './release.js';
import * as account from './account.js';
import {widest} from './show.js';

const SCREENS = {data, design, protected: protection, statistics, columns, budget, plan, release, account};
const $ = id => /** @type {any} */ (document.getElementById(id));

takeToken();
const app = new App();
/** @type {Map<string, {root: HTMLElement, update: () => void, enter?: () => void}>} */
const built = new Map();
let step = '';

const titles = Object.fromEntries(STEPS.map(s => [s.name, s.title]));

/** A step while there is no plan. @param {string} name */
function nothing(name) {
  return {root: el('div', {class: 'screen'}, el('h1', {}, titles[name]), el('p', {class: 'note'}, 'There is no plan yet. ', el('a', {href: './#data'}, 'Begin with a data file, a plan or the example.')))};
}

function go() {
  const wanted = location.hash.slice(1);
  if (wanted === 'main') return;
  const name = wanted in SCREENS ? wanted : app.open ? 'budget' : 'data';
  const first = step === '';
  if (name !== step) {
    step = name;
    if (!built.has(name)) built.set(name, SCREENS[name].build(app));
    const screen = app.open || name === 'data' ? /** @type {any} */ (built.get(name)) : nothing(name);
    put($('main'), screen.root);
    window.scrollTo(0, 0);
    document.title = `${titles[name]} · tamis`;
    screen.enter?.();
    if (!first) {
      app.message = '';
      const h1 = screen.root.querySelector('h1');
      h1?.setAttribute('tabindex', '-1');
      h1?.focus({preventScroll: true});
    }
  }
  update();
  const link = $('steps').querySelector('[aria-current]'), bar = $('steps').parentElement;
  if (link && bar.scrollWidth > bar.clientWidth) bar.scrollLeft = link.offsetParent.offsetLeft + link.parentElement.offsetLeft - bar.clientWidth / 3;
}

/** What is beside a step's name. @param {string} name @param {ReturnType<typeof marks>} all */
function mark(name, all) {
  const {missing, wrong} = all[name];
  if (!app.open) return {sign: '', words: ''};
  if (name === 'release') return app.job?.state === 'done' ? {sign: '✓', words: 'done'} : {sign: '', words: ''};
  if (name === 'account') return {sign: '', words: ''};
  if (name === 'plan') return app.draft?.ok ? {sign: '✓', words: 'complete'} : {sign: '', words: ''};
  if (wrong) return {sign: '✕', words: `${wrong} wrong`, style: 'wrong'};
  if (missing) return {sign: String(missing), words: `${missing} to fill in`, style: 'count'};
  return {sign: '✓', words: 'complete'};
}

/** @type {ReturnType<typeof marks>} */ let all;

function steps() {
  all = marks(app.draft);
  rows($('steps'), STEPS, s => s.name, s => {
    const sign = el('span', {class: 'sign', 'aria-hidden': 'true'}), words = el('span', {class: 'hidden'});
    const link = el('a', {href: './#' + s.name}, sign, el('span', {}, s.title), words);
    return Object.assign(el('li', {}, link), {update() {
      const m = mark(s.name, all);
      put(sign, m.sign);
      put(words, m.words ? `, ${m.words}` : '');
      sign.className = `sign ${m.style ?? ''}`;
      if (s.name === step) link.setAttribute('aria-current', 'step');
      else link.removeAttribute('aria-current');
    }});
  });
}

function facts() {
  if (!app.open) return put($('facts'), el('span', {class: 'quiet'}, 'No plan yet. No data were read.'));
  const p = app.draft?.ok ? app.preview : null, list = [];
  const design = p?.shown?.design;
  const sizes = design && /\d[\d,]*( out)? of \d[\d,]*\d( whole)?( clusters)?/.exec(design);
  const unit = app.tree?.privacy?.unit;
  if (sizes) list.push(el('span', {}, sizes[0], ''));
  else if (design) list.push(el('span', {}, design.split(':')[0]));
  if (p?.shown?.would_spend) list.push(el('span', {}, p.shown.would_spend));
  const worst = p && widest(p);
  if (worst) list.push(el('span', {}, p.shown?.numbers ? `${p.shown.numbers} numbers, ` : '', 'least exact: CV ', worst.shown.cv));
  const counts = Object.values(marks(app.draft)), missing = counts.reduce((n, m) => n + m.missing, 0), wrong = counts.some(m => m.wrong);
  if (wrong || missing) list.push(el('span', {class: 'warn'}, wrong ? 'the plan has errors' : 'to be filled in: ' + missing));
  const done = app.job?.state === 'done' && app.job.result ? `released ${clock(app.job.ended)}` : 'no data read';
  list.push(el('span', {class: 'quiet'}, done));
  put($('facts'), list);
}

/** @param {string} time */
const clock = time => new Date(time).toLocaleTimeString([], {hour: '2-digit', minute: '2-digit'});

function update() {
  steps();
  facts();
  const survey = app.tree?.survey;
  put($('survey'), app.open && typeof survey === 'string' && survey !== 'FILL_IN' ? survey : '');
  put($('file'), app.open ? `${app.file} · ${app.unsaved ? 'not saved' : app.savedAt ? 'saved ' + app.savedAt : 'saved'}` : '');
  $('save').disabled = !app.unsaved || app.about?.read_only;
  $('undo').disabled = !app.history?.canUndo;
  const at = STEPS.findIndex(s => s.name === step), next = STEPS[at + 1];
  $('next').hidden = !next || !app.open;
  if (next) put($('next'), `Next: ${next.title}`);
  if (app.open || step === 'data') {
    const screen = built.get(step);
    if (screen && !screen.root.isConnected) put($('main'), screen.root), screen.enter?.();
    screen?.update();
  }
  if (app.message !== said) {
    said = app.message;
    tell(said);
  }
}

let said = '', hide = 0;

/** @param {string} text */
function tell(text) {
  clearTimeout(hide);
  put($('message'), text ? [el('span', {}, text), button('Close', () => app.say(''), {class: 'small quiet'})] : '');
  $('message').classList.toggle('open', text !== '');
  if (text) hide = window.setTimeout(() => app.say(''), 4000 + 50 * text.length);
}

app.on(update);
window.addEventListener('hashchange', () => {
  takeToken();
  go();
});
window.addEventListener('focus', () => app.look());
window.addEventListener('beforeunload', e => { if (app.unsaved) e.preventDefault(); });
window.addEventListener('unhandledrejection', e => {
  if (e.reason instanceof Refusal) {
    e.preventDefault();
    app.fail(e.reason);
  }
});
$('save').addEventListener('click', () => app.save());
$('undo').addEventListener('click', () => app.back('undo'));
$('next').addEventListener('click', () => { location.hash = '#' + STEPS[STEPS.findIndex(s => s.name === step) + 1].name; });
$('skip').addEventListener('click', e => {
  e.preventDefault();
  $('main').focus();
});
document.addEventListener('keydown', e => {
  const typing = /^(input|textarea|select)$/i.test(document.activeElement?.tagName ?? '') &&
    !/^(checkbox|radio|range|button)$/.test(/** @type {any} */ (document.activeElement).type);
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 's') {
    e.preventDefault();
    if (app.unsaved) app.save();
  } else if ((e.ctrlKey || e.metaKey) && !typing && e.key.toLowerCase() === 'z') {
    e.preventDefault();
    app.back(e.shiftKey ? 'redo' : 'undo');
  } else if (e.key === '/' && !typing && !e.ctrlKey && !e.metaKey && !e.altKey) {
    const search = /** @type {HTMLElement | null} */ ($('main').querySelector('input[type=search]'));
    if (search) {
      e.preventDefault();
      search.focus();
    }
  }
});

try {
  app.about = await call('about');
  await app.restore().catch(() => false);
  const job = await call('job', {}).catch(() => null);
  if (job?.job) app.job = job;
  go();
} catch (error) {
  put($('main'), el('h1', {}, 'tamis'), el('p', {class: 'note bad'}, /** @type {Error} */ (error).message));
}
