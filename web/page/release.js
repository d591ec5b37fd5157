/* Publish: a check that costs nothing, what it takes and that this cannot be undone, the release itself, and its results. */

import {call, Refusal} from './api.js';
import {button, card, el, id, put, rows} from './dom.js';
import {upper} from './budget.js';
import {groupName, quality} from './show.js';
import {at} from './text.js';

const FILES = [['release.xlsx', 'release.xlsx'], ['release.csv', 'release.csv'], ['release.json', 'release.json'], ['certificate.json', 'certificate.json'], ['registry.yaml', 'registry.yaml']];

/** @param {import('./state.js').App} app */
export function build(app) {
  /** @type {any} */ let ready = null;
  /** @type {Refusal | null} */ let refused = null;
  let readyText = '', released = '', checking = false, polling = false, folderTouched = false;
  /** @type {any} */ let verified = null;
  let verifiedJob = 0;

  const checks = el('div', {'aria-live': 'polite'});
  const check = button('Check', () => test(), {class: 'main'});
  const spend = el('div');
  const folder = el('input', {id: id(), size: 18, autocomplete: 'off', spellcheck: 'false'});
  folder.addEventListener('input', () => { folderTouched = true; });
  const sign = el('select', {id: id()});
  const reason = el('input', {id: id(), size: 30, autocomplete: 'off'});
  const reasonLine = el('div', {class: 'field', hidden: true}, el('label', {for: reason.id}, 'Reason for an account of its own'), reason,
    el('span', {class: 'help'}, 'It stays on record.'));
  const name = el('input', {id: id(), size: 26, autocomplete: 'off', spellcheck: 'false'});
  const start = el('button', {class: 'button danger'}, 'Publish');
  const confirm = el('form', {class: 'note confirm'}, el('label', {for: name.id}, 'To confirm, type the name of the survey:'), name, start);
  const hint = el('p', {class: 'help'});
  name.addEventListener('input', () => update());
  confirm.addEventListener('submit', async e => {
    e.preventDefault();
    if (start.disabled) return;
    start.disabled = true;
    try {
      const {job} = await call('release', {...request(), confirm: name.value.trim()});
      name.value = '';
      released = app.text;
      app.job = {job, state: 'waiting', phase: null};
      app.emit();
      progress.scrollIntoView({block: 'nearest'});
      follow();
    } catch (error) {
      app.fail(error);
      update();
    }
  });

  const phases = el('ol', {class: 'phases'});
  const share = el('progress', {max: 1, 'aria-label': 'Rows read'});
  const state = el('h2', {}), stays = el('p', {class: 'help'});
  const stop = button('Stop', async () => {
    app.job = await call('stop', {job: app.job.job}).catch(e => { app.fail(e); return app.job; });
    app.emit();
  });
  const problem = el('div', {class: 'note bad', hidden: true});
  const progress = el('section', {class: 'part', 'aria-live': 'polite'}, state, phases, el('div', {class: 'line'}, share, stop), stays, problem);
  const results = el('section', {class: 'part'});
  const root = el('div', {class: 'screen'}, el('h1', {}, 'Publish'),
    el('p', {class: 'lead'}, 'The check reads what everybody may know: the header, and the numbers of rows that the design fixes. Only the last step reads answers, and it is paid for before.'),
    el('div', {class: 'cards three'}, card('1. Check', checks, check), card('2. Spend', spend),
      card('3. Publish', el('div', {class: 'field'}, el('label', {for: folder.id}, 'Folder for the results'), folder),
        el('div', {class: 'field'}, el('label', {for: sign.id}, 'Signature'), sign), reasonLine)),
    confirm, hint, progress, results);

  const request = () => ({
    file: app.file, text: app.text, ...(folder.value.trim() ? {folder: inFolder(folder.value.trim())} : {}), ...(sign.value ? {sign: sign.value} : {}),
    ...(reason.value.trim() && !reasonLine.hidden ? {new_account: reason.value.trim()} : {}),
  });
  /** The budget as the plan says it. */
  const whole = () => ['epsilon', 'rho'].map(k => [k, at(app.tree, '/budget/' + k)]).filter(x => x[1] !== undefined).map(x => x.join(' '))[0];
  const inFolder = text => (text.includes('/') ? text : app.folder + text);

  async function test() {
    if (checking || !app.open) return;
    checking = true;
    ready = refused = null;
    update();
    try {
      if (app.unsaved && !await app.save()) return;
      const text = app.text;
      ready = await call('ready', request());
      readyText = text;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === 'changed') {
        app.conflict = {hash: error.body.hash, text: error.body.text};
        location.hash = '#plan';
      } else refused = error;
      readyText = app.text;
    } finally {
      checking = false;
      app.emit();
    }
  }

  async function follow() {
    if (polling) return;
    polling = true;
    try {
      while (['waiting', 'running'].includes(app.job?.state)) {
        await new Promise(done => setTimeout(done, 250));
        try {
          app.job = await call('job', {job: app.job.job});
        } catch (error) {
          app.fail(error);
          break;
        }
        app.emit();
      }
      if (app.job?.state === 'done') {
        ready = null;
        app.known.clear();
        app.foresee();
        await verify();
        results.querySelector('h2')?.focus();
      }
    } finally {
      polling = false;
      app.emit();
    }
  }

  async function verify() {
    const job = app.job;
    try {
      verified = await call('verify', {folder: job.folder});
    } catch (error) {
      verified = {ok: false, problems: [{message: /** @type {Error} */ (error).message}]};
    }
    verifiedJob = job.job;
    app.emit();
  }

  /** @param {string} file */
  async function view(file) {
    try {
      const {view} = await call('open', {folder: app.job.folder, name: file});
      if (file.endsWith('.html')) window.open(view, '_blank', 'noopener');
      else el('a', {href: view, download: file}).click();
    } catch (error) {
      app.fail(error);
    }
  }

  function update() {
    const p = app.preview, survey = at(app.tree, '/survey'), current = readyText === app.text && !app.unsaved;
    const running = ['waiting', 'running'].includes(app.job?.state);
    const unit = at(app.tree, '/privacy/unit') ?? 'unit';
    if (!folderTouched && document.activeElement !== folder) folder.value = '';
    folder.placeholder = app.file.replace(/^.*\//, '').replace(/\.ya?ml$/, '') + '-release';

    /* 1 */
    const yes = t => el('p', {class: 'yes'}, el('span', {'aria-hidden': 'true'}, '✓ '), t), no = t => el('p', {class: 'no'}, el('span', {'aria-hidden': 'true'}, '✕ '), t);
    check.textContent = app.unsaved ? 'Save and check' : ready || refused ? 'Check again' : 'Check';
    check.disabled = checking || !app.draft?.ok || Boolean(app.about?.read_only) || running;
    if (!app.open) put(checks, el('p', {}, 'Open or start a plan first.'));
    else if (!app.draft?.ok) put(checks, no('The plan is not complete.'), el('p', {}, el('a', {href: '#plan'}, 'What is missing')));
    else if (app.about?.read_only) put(checks, el('p', {}, 'tamis serve was started with --read-only: nothing can be published.'));
    else if (checking) put(checks, el('p', {}, 'Checking …'));
    else if (refused && current) put(checks, no(refused.message));
    else if (ready && current) put(checks, yes('plan valid, budget allows it'), yes('the source fits the plan: header, types and the numbers that the design fixes'));
    else put(checks, el('p', {}, 'Costs nothing: no answer is read.'));
    reasonLine.hidden = !(refused && /new.account|second account/i.test(refused.message + (refused.body.reason ?? '')));

    /* 2 */
    const ok = Boolean(ready && current);
    const r = ready?.ready, shown = r?.shown ?? p?.shown;
    if (app.job?.state === 'done' && app.text === released) put(spend, el('p', {}, el('strong', {}, 'Published. '), 'The same plan again would cost nothing and return the same numbers.'), p?.shown?.left ? el('p', {}, 'Left: ', p.shown.left, '.') : null);
    else if (ok && r.repeated) put(spend, el('p', {}, el('strong', {}, 'Costs nothing: '), 'the same was released before, and the same numbers are returned.'));
    else if (ok ? r.claims : p?.claims) put(spend, el('p', {}, el('strong', {}, 'Costs nothing more: '), 'this takes over a charge that was paid and never published.'));
    else if (shown?.would_spend) put(spend, el('p', {}, 'This takes ', el('strong', {}, shown.would_spend), shown.left ? [' of the ', el('strong', {}, shown.left), ' that are left'] : whole() ? [' of the ', el('strong', {}, whole()), ' that this survey may ever spend'] : null, '. It cannot be taken back, even if you do not like the numbers.'),
      shown.would_leave ? el('p', {}, 'Left after it: ', shown.would_leave, '.') : null);
    else put(spend, el('p', {}, 'Shown as soon as the plan is complete.'));
    const near = p?.shown?.meaning?.[0]?.shown?.posterior?.['0.1'];
    if (near && app.draft?.ok && app.text !== released) spend.append(el('p', {class: 'help'}, `A suspicion of 10 % about one ${unit} becomes at most ${near}.`));

    /* 3 */
    const fits = name.value.trim() === survey;
    start.disabled = !ok || !fits || running;
    start.textContent = ok && r.repeated ? 'Publish again for nothing' : ok && r.claims ? 'Finish and publish' : shown?.would_spend ? `Spend ${shown.would_spend} and publish` : 'Publish';
    name.disabled = !ok || running;
    confirm.hidden = app.job?.state === 'done' && app.text === released;
    put(hint, confirm.hidden ? '' : ok ? (name.value && !fits ? `The survey is called ${survey}.` : '') : 'First the check.');

    /* the job */
    const j = app.job;
    progress.hidden = !j;
    if (j) {
      const order = ['checked', 'charged', 'read', 'written'];
      const titles = {waiting: 'Waiting', running: j.phase === 'charged' ? 'Charged, reading' : 'At work', done: 'Published', failed: 'It failed', stopped: 'Stopped'};
      put(state, titles[j.state] ?? j.state, j.entry ? el('small', {}, ` entry ${j.entry} of the ledger`) : '');
      rows(phases, order, x => x, x => {
        const item = el('li', {}, x);
        return Object.assign(item, {update(_, i) {
          const now = order.indexOf(app.job.phase), busy = ['waiting', 'running'].includes(app.job.state), over = app.job.state === 'done' || i <= now;
          item.className = over ? 'over' : busy && i === now + 1 ? 'now' : '';
          put(item, (over ? '✓ ' : '') + x);
        }});
      });
      share.hidden = stop.hidden = !running;
      if (typeof j.share === 'number') share.value = j.share;
      else share.removeAttribute('value');
      stop.disabled = Boolean(j.stopping);
      put(stays, running ? (j.phase === null || j.phase === 'checked' ? 'Nothing is spent yet. If you close this tab, it goes on.' :
        'If you stop now, the charge stays. The same plan run again takes it over and pays nothing more. If you close this tab, it goes on.') : '');
      problem.hidden = !j.error;
      if (j.error) put(problem, el('p', {}, j.error.message), j.entry ? el('p', {}, el('a', {href: '#account'}, 'Finish or void it in the account')) : '');
    }
    showResults();
  }

  let drawn = '';
  function showResults() {
    const j = app.job, result = j?.state === 'done' ? j.result : null;
    results.hidden = !result;
    const key = result ? `${j.job}:${verifiedJob === j.job ? JSON.stringify(verified) : ''}` : '';
    if (!result || key === drawn) return;
    drawn = key;
    const list = result.shown.results;
    const head = (t, n = true) => el('th', {scope: 'col', class: n ? 'number' : null}, t);
    const v = verifiedJob === j.job ? verified : null;
    put(results, el('h2', {tabindex: -1}, 'Results'),
      result.repeated ? el('p', {class: 'note'}, 'These are the numbers of the earlier, identical release. Nothing was spent.') : null,
      v ? (v.ok ? el('p', {class: 'yes'}, el('span', {'aria-hidden': 'true'}, '✓ '), 'Verified: the guarantee follows from the certificate, and all files are the ones it names.') :
        el('div', {class: 'note bad'}, el('p', {}, 'The folder could not be verified:'), el('ul', {}, (v.problems ?? []).map(x => el('li', {}, x.message))))) : el('p', {class: 'help'}, 'Verifying …'),
      el('div', {class: 'line'}, button('Open the report', () => view('report.html'), {class: 'main'}), FILES.map(([file, label]) => button(label, () => view(file))),
        button('Verify again', () => verify())),
      el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Results'}, el('table', {}, el('caption', {class: 'hidden'}, 'Results'),
        el('thead', {}, el('tr', {}, head('Number', false), head('Estimate'), head('Std. error'), head('Interval'), head('Quality', false))),
        el('tbody', {}, list.slice(0, 500).map(x => el('tr', {}, el('th', {scope: 'row'}, upper(x.words), x.group && Object.keys(x.group).length ? el('div', {class: 'help'}, groupName(x.group)) : null,
          ),
        el('td', {class: 'number'}, x.estimate ?? '–'), el('td', {class: 'number'}, x.se ?? '–'), el('td', {class: 'number'}, x.interval ?? '–'),
        el('td', {}, x.se === 'known' ? 'exact' : quality(x.quality, true))))))),
      list.length > 500 ? el('p', {class: 'help'}, 'The report has all of them.') : null,
      (result.release.warnings ?? []).length ? el('details', {}, el('summary', {}, 'Remarks'), el('ul', {}, result.release.warnings.map(w => el('li', {}, w)))) : null,
      el('details', {}, el('summary', {}, 'What is not covered'), el('ul', {}, (result.release.not_covered ?? []).map(w => el('li', {}, w)))));
  }

  async function enter() {
    call('files', {folder: app.folder.replace(/\/$/, '')}).then(({entries}) => {
      const keys = entries.filter(e => e.kind === 'key');
      put(sign, el('option', {value: ''}, 'none'), keys.map(k => el('option', {value: k.path}, `with ${k.name}`)));
    }, () => put(sign, el('option', {value: ''}, 'none')));
    if (['waiting', 'running'].includes(app.job?.state)) follow();
    else if (app.job?.state === 'done' && verifiedJob !== app.job.job) verify();
    if (app.open && app.draft?.ok && !app.unsaved && !app.about?.read_only && readyText !== app.text) test();
  }

  return {root, update, enter};
}
