/* Who is protected, and from whom: three questions, and what three people could learn. */

import {call, Refusal} from './api.js';
import {box, choices, draw, el, id, put} from './dom.js';
import {Form} from './form.js';
import {settingAnswers, settingOf} from './questions.js';
import {belief, meaningOf} from './show.js';
import {at} from './text.js';

/** @param {import('./state.js').App} app */
export function build(app) {
  const form = new Form(app);
  /** @type {import('./questions.js').SettingAnswers} */ let answers = {known: 'yes', confidential: 'no', list: 'list'};
  let asked = '', both = false;
  /** @type {any} */ let meaning = null;
  /** @type {any[] | null} */ let settings = null;

  const known = choices('known', [
    {value: 'no', label: 'Nobody outside the office', help: 'Letters were not seen, interviewers are sworn in, respondents do not tell. Outsiders then get a stronger promise, at no cost in accuracy.'},
    {value: 'yes', label: 'A neighbour who saw the interviewer, or the person tells', help: 'the usual case if unsure; recommended'},
  ], v => answer({known: /** @type {any} */ (v)}));
  const confidential = choices('confidential', [{value: 'no', label: 'No'}, {value: 'yes', label: 'Yes: the number of rows is then protected too'}], v => answer({confidential: /** @type {any} */ (v)}), true);
  const list = choices('list', [{value: 'list', label: 'Yes, as a list of schools is'}, {value: 'population', label: 'No, but who belongs to the population is'}, {value: 'neither', label: 'Neither'}], v => answer({list: /** @type {any} */ (v)}));
  const refusal = el('div', {class: 'note bad', hidden: true, role: 'alert'});
  const setting = el('p', {class: 'help'});
  const pairs = el('select', {id: id(), on: {change: () => {
    const [protect, given] = pairs.value.split(' ');
    if (protect) write({protect, given, secret_sample: at(app.tree, '/privacy/secret_sample') !== undefined && ['frame', 'population'].includes(protect)});
  }}});
  const verdict = el('p', {class: 'help'});
  const all = el('details', {}, el('summary', {}, 'All ten settings'), el('div', {class: 'field'}, el('label', {for: pairs.id}, 'Protect … given …'), pairs), verdict);
  const several = el('input', {type: 'checkbox', id: id(), on: {change: () => (several.checked ? app.edit([{path: '/privacy/rows_per_unit', value: at(app.tree, '/privacy/rows_per_unit') ?? 2}]) :
    app.edit([{path: '/privacy/rows_per_unit', value: null}, {path: '/privacy/id', value: null}]))}});
  const rowsFields = el('div', {class: 'grid'}, form.field({path: '/privacy/id', kind: 'column', label: 'Column that tells them apart'}),
    form.field({path: '/privacy/rows_per_unit', kind: 'number', label: 'At most this many rows of one are used', size: 5}));
  const cards = el('div', {class: 'stack', 'aria-live': 'polite'}), title = el('h2');
  const root = el('div', {class: 'screen'}, el('h1', {}, 'Who is protected, and from whom?'),
    el('p', {class: 'lead'}, 'The promise is about one of them: whatever others know already, the publication adds little about this one.'),
    el('div', {class: 'columns even'}, el('div', {},
      box('Whose answers are they?', el('div', {class: 'line'}, form.field({path: '/privacy/unit', label: 'One', size: 14, need: true, list: () => ['person', 'household', 'school', 'firm', 'patient', 'municipality', 'farm'], placeholder: 'person'}),
        el('label', {class: 'inline'}, several, el('span', {}, 'has several rows in the file'))), rowsFields),
      box('Who could learn that somebody was in the sample?', known.node), box('Is it confidential that somebody answered at all?', confidential.node),
      box('Is the list of who could be sampled public?', list.node), refusal, setting, all),
    el('div', {}, title, cards)));

  /** @param {Partial<import('./questions.js').SettingAnswers>} change */
  function answer(change) {
    answers = {...answers, ...change};
    const to = settingOf(answers);
    both = to === null;
    if (to) write(to);
    else update();
  }

  /** @param {{protect: string, given: string, secret_sample: boolean}} to */
  function write(to) {
    const first = app.history ? JSON.parse(app.history.list[0].tree) : {};
    const value = (key, v, usual) => ({path: '/privacy/' + key, value: v === usual && at(first, '/privacy/' + key) === undefined ? null : v});
    both = false;
    app.edit([value('protect', to.protect, 'sample'), value('given', to.given, 'frame'), {path: '/privacy/secret_sample', value: to.secret_sample ? at(app.tree, '/privacy/secret_sample') ?? true : null}]);
  }

  async function ask(epsilon, delta, unit) {
    const key = [epsilon, delta, unit].join();
    if (key === asked) return;
    asked = key;
    try {
      meaning = (await call('meaning', {epsilon, ...(delta ? {delta} : {}), unit})).meaning;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      meaning = null;
    }
    update();
  }

  function person(heading, text, m, before, key, kind) {
    const after = m?.[kind]?.[key]?.upper, shown = m?.shown?.[kind]?.[key];
    return el('section', {class: 'card'}, el('h3', {}, heading), text(shown), typeof after === 'number' ? [belief(before, after),
      el('div', {class: 'ends'}, el('span', {}, `before ${key === '0.1' ? '10 %' : '5 %'}${shown ? `, after at most ${shown}` : ''}`), el('span', {}, 'certain'))] : null);
  }

  function update() {
    form.update();
    const privacy = app.tree?.privacy ?? {}, unit = privacy.unit && privacy.unit !== 'FILL_IN' ? privacy.unit : 'person';
    const now = settingAnswers(privacy);
    if (now && !both) answers = now;
    const given = now || both ? answers : null;
    known.set(given?.known ?? null);
    confidential.set(given?.confidential ?? null);
    list.set(given?.list ?? null);
    several.checked = privacy.rows_per_unit !== undefined || privacy.id !== undefined;
    rowsFields.hidden = !several.checked;
    refusal.hidden = !both && !app.previewError;
    if (both) put(refusal, 'A secret sample and confidential answering cannot both be promised: choose one. Who answered was asked, so the promise about answering already covers the first question as far as anything is proved.');
    else if (app.previewError) put(refusal, app.previewError.message);
    const words = `protect ${privacy.protect ?? 'sample'}, given ${privacy.given ?? 'frame'}${privacy.secret_sample ? ', secret sample' : ''}`;
    put(setting, `In the words of the plan: ${words}.`);
    if (!settings) {
      settings = [];
      call('settings').then(x => { settings = x.settings; update(); }, () => { settings = null; });
    }
    if (settings.length && pairs.childElementCount !== settings.length + 1) put(pairs, el('option', {value: ''}, 'choose'), settings.map(s => el('option', {value: `${s.protect} ${s.given}`}, s.name)));
    if (document.activeElement !== pairs) pairs.value = `${privacy.protect ?? 'sample'} ${privacy.given ?? 'frame'}`;
    const mine = settings.find(s => s.protect === (privacy.protect ?? 'sample') && s.given === (privacy.given ?? 'frame'));
    put(verdict, mine ? [el('strong', {}, mine.verdict), ' An attacker ', mine.attacker, '.'] : '');

    const p = app.preview && app.draft?.ok ? app.preview : null;
    if (!p) ask(String(privacy.epsilon && privacy.epsilon !== 'FILL_IN' ? privacy.epsilon : '1'), privacy.delta, unit);
    const m = p ?? meaning;
    put(title, 'What each can learn about one ', unit, ' ', el('small', {}, p || (privacy.epsilon && privacy.epsilon !== 'FILL_IN') ? 'as Budget is set now' : 'at epsilon 1'));
    const near = meaningOf(m, 'nosy neighbour'), press = meaningOf(m, 'journalist'), far = meaningOf(m, 'outsider');
    const secret = answers.known === 'no';
    const bold = t => el('strong', {}, t ?? '…');
    draw(cards, [unit, near, press, far, secret, p?.guarantee?.outsider_reason], () => [
      person('A neighbour who saw the interviewer', s => el('p', {}, `Suspects something about one ${unit} with 10 %. After the publication, whatever else is known: at most `, bold(s), '.'), near, 0.1, '0.1', 'posterior'),
      person('A journalist who looks for any case', s => el('p', {}, `Tries to show that one record of the survey is a certain ${unit}. With 5 % false alarms, finds at most `, bold(s), ' of true ones.'), press, 0.05, '0.05', 'found'),
      far ? person('An outsider who does not know who was asked', s => el('p', {}, 'The same suspicion of 10 % becomes at most ', bold(s), '.'), far, 0.1, '0.1', 'posterior') :
        el('section', {class: 'card'}, el('h3', {}, 'An outsider who does not know who was asked'), el('p', {}, secret && !p ? 'Shown as soon as the plan is complete.' : 'No separate promise: as the neighbour.'),
          p?.guarantee?.outsider_reason ? el('details', {}, el('summary', {}, 'Why'), el('p', {class: 'help'}, p.guarantee.outsider_reason)) : null),
      el('p', {class: 'help'}, `Compared with a publication in which the answers of this ${unit} were replaced by others. What everybody learns about people in general is the purpose of the survey and is not hidden.`)]);
  }

  return {root, update};
}
