/* The account: what was spent, what is left, what is unfinished; decisions that stay on record. */

import {call, Refusal} from './api.js';
import {button, el, id, put, svg} from './dom.js';
import {download, meaningOf} from './show.js';
import {at} from './text.js';

/** @param {import('./state.js').App} app */
export function build(app) {
  /** @type {any} */ let book = null;
  /** @type {string} */ let problem = '';
  /** @type {any} */ let chain = null;
  /** @type {Map<string, any>} */ const meanings = new Map();
  /** @type {{entry: number} | 'raise' | null} */ let asking = null;
  const lead = el('p', {class: 'lead', 'aria-live': 'polite'}), content = el('div');
  const root = el('div', {class: 'screen'}, el('h1', {}, 'The account'), lead, content);
  const reason = el('input', {id: id(), size: 40, autocomplete: 'off'}), amount = el('input', {id: id(), size: 8, inputmode: 'decimal', autocomplete: 'off'});
  let drawn = '';

  async function load() {
    drawn = app.text;
    if (!app.open) {
      problem = 'Open a plan first: it names the ledger.';
      return draw();
    }
    try {
      await app.settle();
      book = await call('account', {file: app.file, text: app.text});
      problem = '';
      chain = null;
      draw();
      if (book.exists) {
        await explain();
        chain = await call('verify', {ledger: book.ledger});
        draw();
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      problem = error.message;
      draw();
    }
  }

  /** What the losses so far mean. They are the texts of the account, which are rounded up. */
  async function explain() {
    for (const a of book.book.accounts) {
      const [sample, outsider] = [a.shown?.sample, a.shown?.outsider].map(t => /^epsilon ([^,]+)(?:, delta (.*))?$/.exec(t ?? ''));
      if (!sample || a.survey !== at(app.tree, '/survey')) continue;
      try {
        meanings.set(a.survey, (await call('meaning', {epsilon: sample[1], delta: sample[2] ?? '0', ...(outsider ? {outsider_epsilon: outsider[1], outsider_delta: outsider[2] ?? '0'} : {})})).meaning);
      } catch { /* the epsilons say it too */ }
    }
  }

  /** @param {string} route @param {any} body */
  async function decide(route, body) {
    try {
      book = await call(route, {ledger: book.ledger, ...body});
      asking = null;
      reason.value = '';
      app.known.clear();
      app.foresee();
      app.say(route === 'void' ? 'The charge is void; the entry and the reason stay.' : 'The budget is raised; the reason stays on record.');
      await explain();
      chain = await call('verify', {ledger: book.ledger});
      draw();
    } catch (error) {
      app.fail(error);
    }
  }

  async function report(folder) {
    try {
      const {view} = await call('open', {folder, name: 'report.html'});
      window.open(view, '_blank', 'noopener');
    } catch (error) {
      app.fail(error);
    }
  }

  function draw() {
    put(lead, 'What this sample has spent. Entries are only ever added',
      chain ? [chain.ok ? '; the chain was recomputed just now: ' : '; the chain was recomputed just now, and it is broken: ', el('span', {class: chain.ok ? 'yes' : 'no'}, chain.ok ? '✓ intact' : '✕ ' + chain.problems.map(p => p.message).join('; '))] : '.');
    if (problem) return put(content, el('p', {class: 'note'}, problem));
    if (!book) return put(content, el('p', {}, 'Reading the ledger …'));
    if (!book.exists) return put(content, el('p', {class: 'note'}, el('strong', {}, 'Nothing has been spent. '), `The first release creates the ledger ${book.ledger} and fixes the budget.`), el('p', {}, el('a', {href: '#budget'}, 'What the plan would spend')));
    const survey = at(app.tree, '/survey');
    const accounts = book.book.accounts, mine = accounts.find(a => a.survey === survey);
    put(content, mine ? accountOf(mine) : el('p', {class: 'note'}, `The ledger ${book.ledger} has no account of ${survey} yet; the first release opens it.`),
      accounts.filter(a => a !== mine).length ? el('details', {class: 'part'}, el('summary', {}, 'Other surveys in this ledger'), accounts.filter(a => a !== mine).map(a => el('section', {}, el('h2', {}, a.survey), entries(a)))) : null,
      el('p', {class: 'help'}, `${book.ledger}. Keep it with the data. `, button('Export as CSV', async () => {
        try {
          const {name, text} = await call('export', {ledger: book.ledger, form: 'csv'});
          download(name, text);
        } catch (error) {
          app.fail(error);
        }
      }, {class: 'link'})));
  }

  const one = x => x?.epsilon?.upper ?? x?.rho?.upper ?? 0;

  const unit = () => (at(app.tree, '/privacy/unit') ?? 'unit');

  function accountOf(a) {
    const cap = one(a.budget) || 1, live = a.entries.filter(e => e.charge && !/void/.test(e.state));
    let x = 0;
    const parts = live.map((e, i) => {
      const width = (1000 * one(e.charge)) / cap, at = x;
      x += width;
      return svg('rect', {class: i % 2 ? 'part odd' : 'part', x: at, y: 0, width, height: 22}, svg('title', {}, `${e.release}: ${e.shown?.charge ?? ''}`));
    });
    const near = meaningOf(meanings.get(a.survey), 'nosy neighbour'), far = meaningOf(meanings.get(a.survey), 'outsider');
    const raised = asking === 'raise';
    amount.setAttribute('aria-label', 'New budget');
    return [
      svg('svg', {class: 'spent', viewBox: '0 0 1000 22', preserveAspectRatio: 'none', role: 'img', 'aria-label': `Spent ${a.shown?.spent ?? ''} of ${a.shown?.budget ?? ''}`}, svg('rect', {class: 'track', x: 0, y: 0, width: 1000, height: 22}), parts),
      el('div', {class: 'cards three'},
        el('section', {class: 'card'}, el('h2', {}, `A sampled ${unit()} has lost`), el('p', {class: 'big'}, a.shown?.sample ?? a.shown?.spent ?? ''), near?.shown ? el('p', {}, `a suspicion of 10 % becomes at most ${near.shown.posterior['0.1']}`) : null),
        el('section', {class: 'card'}, el('h2', {}, 'Lost to an outsider'), el('p', {class: 'big'}, a.shown?.outsider ?? 'no separate promise'), far?.shown ? el('p', {}, `10 % becomes at most ${far.shown.posterior['0.1']}`) : a.outsider_reason ? el('details', {}, el('summary', {}, 'Why'), el('p', {class: 'help'}, a.outsider_reason)) : null),
        el('section', {class: 'card'}, el('h2', {}, 'Left'), el('p', {class: 'big'}, a.shown?.left ?? ''), el('p', {}, a.shown?.budget ? `of ${a.shown.budget}. ` : '', 'A release beyond that is refused.'),
          app.about?.read_only ? null : raised ? el('form', {class: 'stack', on: {submit: e => {
            e.preventDefault();
            const rho = a.budget?.rho !== undefined && a.budget?.rho !== null;
            decide('raise', {survey: a.survey, [rho ? 'rho' : 'epsilon']: amount.value.trim(), reason: reason.value.trim(), ...(one({epsilon: a.budget?.delta}) > 0 ? {delta: String(at(app.tree, '/budget/delta') ?? '')} : {})});
          }}}, el('label', {for: amount.id}, 'New budget'), amount, el('label', {for: reason.id}, 'Reason, which stays on record'), reason, el('div', {class: 'line'}, el('button', {class: 'button danger small'}, 'Raise it'), button('Cancel', () => { asking = null; draw(); }, {class: 'small'}))) :
            button('Raise the budget, with a reason on record', () => { asking = 'raise'; draw(); amount.focus(); }, {class: 'link'}))),
      el('section', {class: 'part'}, el('h2', {}, 'Entries'), entries(a)),
    ];
  }

  function entries(a) {
    const head = (t, n = false) => el('th', {scope: 'col', class: n ? 'number' : null}, t);
    return el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Entries of ${a.survey}`}, el('table', {}, el('caption', {class: 'hidden'}, 'Entries'),
      el('thead', {}, el('tr', {}, head('No', true), head('When'), head('What'), head('State'), head('Spent', true), head('More'))),
      el('tbody', {}, a.entries.map(e => {
        const open = e.state !== 'released' && !/void/.test(e.state);
        return el('tr', {}, el('td', {class: 'number'}, String(e.number)), el('td', {}, when(e.time)), el('th', {scope: 'row'}, e.release ?? '–', e.reason ? el('div', {class: 'help'}, e.reason) : null),
          el('td', {}, el('span', {class: e.state === 'released' ? 'yes' : open ? 'warn' : ''}, open ? 'charged, not published' : e.state)), el('td', {class: 'number'}, e.shown?.charge ?? ''),
          el('td', {class: 'act'}, e.folder && e.state === 'released' ? button('Report', () => report(e.folder), {class: 'small', 'aria-label': `Report of entry ${e.number}`}) : null,
            open && !app.about?.read_only && !(asking && /** @type {any} */ (asking).entry === e.number) ? [button('Finish it', () => { location.hash = '#release'; }, {class: 'small', 'aria-label': `Finish it: entry ${e.number}`}), ' ',
              button('Void …', () => { asking = {entry: e.number}; draw(); reason.focus(); }, {class: 'small', 'aria-label': `Void … entry ${e.number}`})] : null,
            asking && /** @type {any} */ (asking).entry === e.number ? el('form', {class: 'line', on: {submit: ev => { ev.preventDefault(); decide('void', {entry: e.number, reason: reason.value.trim()}); }}},
              el('label', {for: reason.id}, 'Reason'), reason, el('button', {class: 'button danger small'}, 'Void it'), button('Cancel', () => { asking = null; draw(); }, {class: 'small'})) : null));
      }))));
  }

  return {root, update() { if (drawn !== app.text && !asking) load(); }, enter: load};
}

/** A time in this computer's words; the ledger keeps it in UTC. @param {string} time */
function when(time) {
  return el('time', {datetime: time, title: time}, time.replace('T', ' ').replace('Z', ' UTC'));
}
