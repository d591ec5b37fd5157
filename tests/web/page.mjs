/* The page in Debian's Chromium: the whole walk by mouse and by keyboard, both ways of changing a plan, numbers, axe, hostile names.
 *
 *     node page.mjs            what `make test` runs
 *     TAMIS_TEST_LONG=1 node page.mjs    every example, every size, colour and state
 */

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {accessible, fits, numbersAreOfTheLibrary} from './checks.mjs';
import * as h from './harness.mjs';

const why = await h.cannot();
if (why) {
  console.log(`1..0 # SKIP ${why}`);
  process.exit(0);
}
const long = Boolean(process.env.TAMIS_TEST_LONG);
const {context, close} = await h.browser();

/** A test with a folder, a server and a tab of its own. */
const only = process.argv[2];

async function on(name, make, body, more = []) {
  if (only && !name.includes(only)) return;
  await h.test(name, async () => {
    const where = h.folder();
    await make(where);
    const server = await h.serve(where, more);
    const tab = await h.open(context, server.url);
    try {
      await body({...tab, where, server});
      assert.deepEqual(tab.errors, [], 'complaints of the browser');
      assert.deepEqual([...tab.hosts], [new URL(server.url).host], 'hosts that were asked');
      assert.ok(!/innerHTML|TrustedHTML/.test(tab.errors.join()));
    } catch (error) {
      await h.picture(tab.page, `failed-${name.replace(/\W+/g, '-')}`).catch(() => {});
      throw error;
    } finally {
      tab.page.on('dialog', d => d.accept());
      await tab.page.close({runBeforeUnload: false});
      await server.stop();
    }
  });
}

const schools = where => cpSync(join(h.root, 'examples/schools/apistrat.csv'), join(where, 'schools.csv'));
const example = (...names) => where => { for (const name of names) cpSync(join(h.root, 'examples', name), join(where, name), {recursive: true}); };

const GOLDEN = `# Begun from the header of the data file; no row was read.
tamis: 1
survey: schools
source: {file: schools.csv}
design:
  stratified:
    by: stype
    within: srs
    strata:
      E: {population: 4421, sample: 100}
      M: {population: 1018, sample: 50}
      H: {population: 755, sample: 50}
privacy:
  unit: school
  epsilon: 2
columns:
  api00: {step: 1, from: 200, to: 1000, typical: {mean: 650, sd: 130}}   # technical manual of the index
  awards: {values: ["Yes", "No"], typical: {"Yes": 0.6}}
statistics:
  - {mean: api00, by: stype}
  - {share: {awards: "Yes"}}
budget: {epsilon: 4}
`;

/* ---- by mouse ---- */

await on('from a CSV file to a verified release, by mouse', schools, async ({page, answers, where}) => {
  const next = () => page.getByRole('button', {name: /^Next: /}).click();
  await page.getByRole('button', {name: 'schools.csv'}).click();
  await page.getByText('schools.csv: 7 columns.').waitFor();
  await page.getByRole('button', {name: 'Begin a plan with this file'}).click();
  await page.getByLabel('People (or schools').check();
  await page.getByLabel('Yes, the sample was drawn').check();
  await page.getByLabel('by the column').selectOption('stype');
  await page.getByRole('button', {name: 'Paste from a spreadsheet'}).click();
  await page.getByLabel('Lines of name').fill('type\tpopulation\tsample\nE\t4,421\t100\nM\t1,018\t50\nH\t755\t50');
  await page.getByRole('button', {name: 'Use this list'}).click();
  await h.settled(page);
  await next();
  await page.getByLabel('One', {exact: true}).fill('school');
  await h.settled(page);
  assert.equal(await page.getByText('23.2 %', {exact: true}).count(), 1, 'the neighbour, before there is a forecast');
  assert.doesNotMatch(await page.locator('main').innerText(), /epsilon/i, 'the word comes on Budget, beside what it means');
  await next();
  await page.getByLabel('Kind of statistic').selectOption('mean');
  await page.getByLabel('of the column').selectOption('api00');
  await page.getByLabel('group by').selectOption('stype');
  await page.getByRole('button', {name: 'Add', exact: true}).click();
  await h.settled(page);
  await page.getByLabel('Kind of statistic').selectOption('share');
  await page.getByLabel('condition 1: column').selectOption('awards');
  await page.getByLabel('condition 1: value', {exact: true}).fill('Yes');
  await page.getByRole('button', {name: 'Add', exact: true}).click();
  await h.settled(page);
  await next();
  const detail = page.locator('.detail');
  await page.getByRole('button', {name: 'api00: Enter a range'}).click();
  for (const [label, value] of [['from', '200'], ['to', '1000'], ['mean', '650'], ['standard deviation', '130']]) await detail.getByLabel(label, {exact: true}).fill(value);
  await detail.getByLabel('Note: from where is this?').fill('technical manual of the index');
  await detail.getByLabel('Note: from where is this?').press('Tab');
  await h.settled(page);
  await page.getByRole('button', {name: /^awards: /}).click();
  await detail.getByLabel('The values that the file may have').fill('Yes\nNo');
  await detail.getByRole('button', {name: 'Use this list'}).click();
  await h.settled(page);
  await detail.getByText('A guess of the shares').click();
  await detail.getByLabel('Yes', {exact: true}).fill('0.6');
  await h.settled(page);
  await next();
  await page.getByLabel('All releases of this survey').fill('4');
  await h.quiet(page);
  const numbers = await numbersAreOfTheLibrary(page, answers, 'Budget');
  assert.ok(numbers > 20, `${numbers} numbers on Budget`);
  await page.getByLabel('or: every CV below').fill('15');
  await page.getByRole('button', {name: 'Find epsilon'}).click();
  await page.getByText(/is the smallest at which/).waitFor();
  await h.quiet(page);
  await page.getByRole('button', {name: 'One line per number'}).click();
  await page.getByRole('button', {name: 'as a table'}).click();
  await numbersAreOfTheLibrary(page, answers, 'Budget, found');
  await page.getByRole('button', {name: 'as a table'}).click();

  /* an alternative is beside the plan, and changes it only when it is taken */
  await page.getByLabel('epsilon', {exact: true}).fill('0.1');
  await page.getByText('use with caution').or(page.getByText('unreliable')).first().waitFor();
  await page.setViewportSize({width: 1000, height: 860}); /* the narrowest with two columns */
  await fits(page, 'Budget with a warning');
  await page.setViewportSize({width: 1280, height: 860});
  await page.getByLabel('epsilon', {exact: true}).fill('1');
  await h.quiet(page);
  assert.equal(await page.getByText(/is the smallest at which/).count(), 0, 'not said of another epsilon');
  await page.getByRole('button', {name: /^Try: twice the budget/}).first().click();
  await page.getByRole('button', {name: 'Take A'}).waitFor();
  await numbersAreOfTheLibrary(page, answers, 'Budget, beside each other');
  await fits(page, 'Budget, beside each other');
  assert.equal(await page.getByLabel('epsilon', {exact: true}).inputValue(), '1');
  await page.getByRole('button', {name: 'Take A'}).click();
  await h.settled(page);
  assert.equal(await page.getByLabel('epsilon', {exact: true}).inputValue(), '2');
  await next();
  assert.equal(await page.getByLabel('The plan as text').inputValue(), GOLDEN);
  await next();
  await page.getByRole('button', {name: 'Save and check'}).click();
  await page.getByText('plan valid, budget allows it').waitFor();
  assert.equal(readFileSync(join(where, 'plan.yaml'), 'utf8'), GOLDEN);
  await numbersAreOfTheLibrary(page, answers, 'Release, checked');
  const publish = page.getByRole('button', {name: 'Spend epsilon 2 and publish'});
  await page.getByLabel('To confirm').fill('school');
  assert.ok(await publish.isDisabled(), 'not without the whole name');
  await page.getByLabel('To confirm').fill('schools');
  await publish.click();
  await page.getByText('Verified:').waitFor({timeout: 30000});
  await h.quiet(page);
  assert.ok(await numbersAreOfTheLibrary(page, answers, 'Release, results') > 15);
  await next();
  await page.getByText('✓ intact').waitFor();
  assert.ok(await numbersAreOfTheLibrary(page, answers, 'Account') > 5);
  assert.equal((await h.run(['verify', join(where, 'plan-release')])).code, 0, 'tamis verify accepts the folder');

  /* the same again costs nothing, and says so first */
  await h.go(page, 'release');
  await page.getByText('The same plan again would cost nothing').waitFor();
  /* a budget can be raised, with a reason */
  await h.go(page, 'account');
  await page.getByRole('button', {name: 'Raise the budget'}).click();
  await page.getByLabel('New budget').fill('5');
  await page.getByLabel('Reason, which stays on record').fill('the board agreed');
  await page.getByRole('button', {name: 'Raise it'}).click();
  await page.getByText('epsilon 3', {exact: true}).waitFor();
});

/* ---- by keyboard alone ---- */

/** Presses Tab until the focus is on something with this name; the focus must be visible everywhere. */
async function tabTo(page, name, back = false) {
  for (let i = 0; i < 150; i++) {
    const at = await page.evaluate(() => {
      const e = /** @type {any} */ (document.activeElement);
      if (!e || e === document.body) return {name: '', visible: true};
      const label = e.getAttribute('aria-label') ?? (e.labels?.length ? [...e.labels].map(l => l.textContent).join(' ') : e.textContent);
      const style = getComputedStyle(e), around = getComputedStyle(e.closest('.editor') ?? e);
      return {name: label.trim(), tag: e.tagName, visible: e.matches('h1, h2, main') || style.outlineStyle !== 'none' || around.outlineStyle !== 'none', html: e.outerHTML.slice(0, 100)};
    });
    assert.ok(at.visible, `the focus is visible: ${at.html}`);
    if (at.name === name || (name instanceof RegExp && name.test(at.name))) return;
    await page.keyboard.press(back ? 'Shift+Tab' : 'Tab');
  }
  assert.fail(`no way by Tab to ${name}`);
}

await on('from a CSV file to a verified release, by keyboard alone', schools, async ({page, where}) => {
  const key = async (...keys) => { for (const k of keys) await page.keyboard.press(k); };
  const type = text => page.keyboard.type(text);
  const next = async () => { await tabTo(page, /^Next: /); await key('Enter'); await h.settled(page); };
  await tabTo(page, 'schools.csv');
  await key('Enter');
  await page.getByText('schools.csv: 7 columns.').waitFor();
  await tabTo(page, 'Begin a plan with this file');
  await key('Enter');
  await page.getByRole('heading', {name: 'How was the sample drawn?'}).waitFor();
  await tabTo(page, /^People/);
  await key('Space');
  await h.settled(page);
  await tabTo(page, 'How many could have been drawn');
  await type('6194');
  await key('Tab');
  await type('200');
  await h.settled(page);
  await next();
  await tabTo(page, 'One');
  await type('school');
  await h.settled(page);
  await next();
  await tabTo(page, 'Kind of statistic');
  await type('Mean');
  await h.settled(page);
  await tabTo(page, 'of the column');
  await type('enroll');
  await h.settled(page);
  await tabTo(page, 'Add');
  await key('Enter');
  await h.settled(page);
  await next();
  await tabTo(page, 'enroll: Enter a range');
  await key('Enter');
  await tabTo(page, 'from');
  await type('0');
  await key('Tab');
  await type('4000');
  await h.settled(page);
  await tabTo(page, 'mean');
  await type('600');
  await key('Tab');
  await type('450');
  await h.settled(page);
  await next();
  /* the slider by arrows */
  await tabTo(page, /^Privacy loss/);
  await key('ArrowRight');
  await h.quiet(page);
  await tabTo(page, 'All releases of this survey together may ever spend');
  await type('3');
  await h.quiet(page);
  await next();
  await next();
  await tabTo(page, 'Save and check');
  await key('Enter');
  await page.getByText('plan valid, budget allows it').waitFor();
  await tabTo(page, 'To confirm, type the name of the survey:');
  await type('schools');
  await key('Enter');
  await page.getByText('Verified:').waitFor({timeout: 30000});
  const plan = readFileSync(join(where, 'plan.yaml'), 'utf8');
  assert.match(plan, /srs: \{population: 6194, sample: 200\}/);
  assert.match(plan, /epsilon: 1\.5\n/);
  assert.equal((await h.run(['verify', join(where, 'plan-release')])).code, 0);
});

/* ---- a survey of 58 columns ---- */

const NAMES = ['pid', 'stratum', 'w', 'sex', 'age', 'status', 'hours', 'wage', ...Array.from({length: 50}, (_, i) => `q${String(i + 1).padStart(2, '0')}`)];

/** People who are made up: 1,500 rows of 58 columns. */
function people(where) {
  const rows = Array.from({length: 1500}, (_, i) => NAMES.map((name, j) => ({pid: i + 1, stratum: 'abc'[i % 3], w: 100 + i % 40, sex: 1 + i % 2, age: 16 + (i * 7) % 70, status: 1 + (i * 5) % 3,
    hours: i % 3 ? 20 + i % 40 : '', wage: i % 3 ? 1500 + (i * 37) % 4000 : ''})[name] ?? 1 + (i * (j + 3)) % 5));
  writeFileSync(join(where, 'panel_2026.csv'), [NAMES, ...rows].map(r => r.join(',')).join('\n') + '\n');
}

await on('58 columns: weights, a codebook, several at once, from the file to a verified release', people, async ({page, where}) => {
  const next = () => page.getByRole('button', {name: /^Next: /}).click();
  const add = async () => { await page.getByRole('button', {name: 'Add', exact: true}).click(); await h.settled(page); };
  await page.getByRole('button', {name: 'panel_2026.csv'}).click();
  await page.getByText('panel_2026.csv: 58 columns.').waitFor();
  await page.getByRole('button', {name: 'Begin a plan with this file'}).click();
  await page.getByLabel('I only have final weights').check();
  await h.settled(page);
  await page.getByText(/Still to do/).waitFor();
  await page.getByLabel('Column with the stratum').selectOption('stratum');
  await h.settled(page);
  await page.getByLabel('Column with the weight').selectOption('w');
  await page.getByLabel('No weight is larger than').fill('150');
  await h.settled(page);
  await page.getByLabel('They are').selectOption('final');
  await page.getByLabel('Size of the population, about').fill('180000');
  await page.getByLabel('Size of the sample, about').fill('1500');
  await h.settled(page);
  await page.getByText('The design is complete.').waitFor();
  await next();
  await page.getByLabel('One', {exact: true}).fill('person');
  await h.settled(page);
  await next();
  await page.getByLabel('group by').selectOption('status');
  await add();
  await page.getByLabel('Kind of statistic').selectOption('mean');
  await page.getByLabel('of the column').selectOption('wage');
  await page.getByLabel('group by').selectOption('sex');
  await page.getByRole('button', {name: '+ condition'}).click();
  await page.getByLabel('only where 1: column').selectOption('status');
  await page.getByLabel('only where 1: value', {exact: true}).fill('1, 2');
  await add();
  for (const column of ['q07', 'q08', 'q09']) {
    await page.getByLabel('Kind of statistic').selectOption('share');
    await page.getByLabel('condition 1: column').selectOption(column);
    await page.getByLabel('condition 1: value', {exact: true}).fill('5');
    await add();
  }
  await next();

  /* only what is used is asked for; the rest is there to be found */
  const list = page.locator('table.cols tbody tr');
  await list.first().waitFor();
  assert.equal(await list.count(), 6);
  await page.getByRole('button', {name: 'All 58'}).click();
  assert.equal(await list.count(), 58);
  await page.locator('h1').focus();
  await page.keyboard.press('/');
  await page.keyboard.type('q4');
  assert.equal(await list.count(), 10);
  await page.getByLabel('Search columns').fill('');
  await page.getByRole('button', {name: 'To fill in 6'}).click();

  /* a codebook for some, one setting for the others */
  await page.getByRole('button', {name: 'Import a codebook …'}).click();
  await page.getByLabel('or paste it').fill('column,code,label,from,to,missing\nstatus,1,employed,,,\nstatus,2,unemployed,,,\nstatus,3,other,,,\nsex,1,male,,,\nsex,2,female,,,\nwage,,Wage,0,8000,\nunused,1,x,,,\n');
  await page.getByText('4 columns in the codebook, 3 of them in use here').waitFor();
  await page.getByRole('button', {name: 'Use it for the columns in use'}).click();
  await h.settled(page);
  assert.equal(await list.count(), 3);
  await page.getByLabel('Choose all columns in the list').check();
  await page.getByRole('button', {name: 'Set for 3 chosen …'}).click();
  await page.getByLabel('All chosen columns are').selectOption('category');
  await page.getByLabel('One code per line, with its label').fill('1 never\n2\n3\n4\n5 always');
  await page.getByLabel('codes that mean missing').fill('9');
  await page.getByRole('button', {name: 'Set for all chosen'}).click();
  await page.getByText('Nothing to fill in').or(page.getByRole('button', {name: 'To fill in 0'})).first().waitFor();
  await h.quiet(page);
  await next();
  await page.getByText('What had to be assumed').waitFor();
  await page.getByLabel('All releases of this survey').fill('2');
  await h.quiet(page);
  await h.picture(page, 'budget-58');
  await page.getByRole('button', {name: /^Answer: .*mean/}).first().click();
  assert.ok(await page.locator('.detail').getByRole('heading', {name: /^wage/}).count(), 'Answer leads to the field');
  await page.locator('.detail').getByLabel('mean', {exact: true}).fill('3400');
  await page.locator('.detail').getByLabel('standard deviation', {exact: true}).fill('1200');
  await h.quiet(page);
  await h.picture(page, 'columns-58');

  /* epsilon is found for the numbers whose size is known, and the page says for which it is not */
  await h.go(page, 'budget');
  await page.getByLabel('or: every CV below').fill('50');
  await page.getByRole('button', {name: 'Find epsilon'}).click();
  await page.getByText(/every CV that is known/).waitFor();
  const unknown = await page.locator('.answer .warn').textContent();
  assert.match(unknown, /Not counted.* share q07=5, share q08=5, share q09=5\./);
  assert.doesNotMatch(unknown, /wage/);
  await page.locator('#undo').click();
  await h.quiet(page);
  await h.go(page, 'release');
  await page.getByRole('button', {name: 'Save and check'}).click();
  await page.getByText('plan valid, budget allows it').waitFor();
  await page.getByLabel('To confirm').fill('panel-2026');
  await page.getByRole('button', {name: /publish$/}).click();
  await page.getByText('Verified:').waitFor({timeout: 30000});
  assert.equal((await h.run(['verify', join(where, 'plan-release')])).code, 0);
  const plan = readFileSync(join(where, 'plan.yaml'), 'utf8');
  assert.ok(!plan.includes('q10'), 'columns that are not used are not in the plan');
});

/* ---- both ways ---- */

const text = page => page.evaluate(() => JSON.parse(sessionStorage.getItem('tamis-plan')).text);

/** Every field of the open screen is changed and set back; the plan's bytes are what they were. */
async function touch(page, step, original) {
  const fields = await page.locator('main input:visible:not([type=search]):not([type=file]):not([type=range]):not(:disabled), main select:visible:not(:disabled)').all();
  let touched = 0;
  for (const field of fields) {
    if (!await field.isVisible() || await field.isDisabled()) continue;
    const {tag, kind, label, value, other, mine} = await field.evaluate(e => ({tag: e.tagName, kind: e.type, value: e.value, label: e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? '',
      other: e.tagName === 'SELECT' ? [...e.options].map(o => o.value).find(v => v && v !== e.value) ?? null : null, mine: Boolean(e.closest('.sentence, .confirm, .paste'))}));
    if (mine || kind === 'checkbox' || kind === 'radio' || /CV below|Save as|Folder|Signature|Choose|Another stratum|Kind of |Name of the stratum|counted in|Raise|Protect/.test(label)) continue;
    if (tag === 'SELECT') {
      if (other === null || (value === '' && !/Importance|Missing/.test(label))) continue;
      await field.selectOption(other);
      await h.settled(page);
      await field.selectOption(value);
    } else {
      await field.fill(value + '7');
      await h.settled(page);
      await field.fill(value);
    }
    await h.settled(page);
    touched++;
    assert.equal(await text(page), original, `${step}: ${label}`);
  }
  return touched;
}

const plans = [['schools', 'plan.yaml'], ['api', 'plan.yaml'], ['households', 'plan.yaml'], ['municipalities', 'plan.yaml'], ['incomes', 'plan.yaml'],
  ...readdirSync(join(h.root, 'examples/coverage')).filter(f => f.endsWith('.yaml')).map(f => ['coverage', f])];

for (const [folder, file] of long ? plans : plans.slice(0, 1)) {
  await on(`fields touched and set back: ${folder}/${file}`, example(folder), async ({page, where}) => {
    await h.openPlan(page, folder, file);
    const original = readFileSync(join(where, folder, file), 'utf8');
    assert.equal(await text(page), original);
    let touched = 0;
    for (const step of ['data', 'design', 'protected', 'statistics', 'columns', 'budget']) {
      await h.go(page, step);
      await h.settled(page);
      if (step === 'columns') {
        await page.getByRole('button', {name: /^Used/}).click();
        for (const more of await page.getByRole('button', {name: /^More about/}).all()) {
          await more.click();
          touched += await touch(page, step, original);
        }
      } else touched += await touch(page, step, original);
    }
    console.log(`# ${touched} fields`);
    assert.ok(touched > 6);
  });
}

/* ---- texts: errors, undo, other programs ---- */

await on('text and forms: errors, undo, another program, a tab that is loaded again', example('schools'), async ({page, where, server}) => {
  await h.openPlan(page, 'schools', 'plan.yaml');
  const file = join(where, 'schools/plan.yaml'), original = readFileSync(file, 'utf8');
  await h.go(page, 'plan');
  const area = page.getByLabel('The plan as text');
  await area.fill(original.replace('to: 4000', 'to: -4000'));
  await h.settled(page);
  await page.getByText(/line 17, column/).waitFor();
  assert.equal(await page.locator('.marks .wrong').count(), 1);
  await page.getByText(/line 17, column/).click();
  assert.ok(await area.evaluate(e => e.selectionStart > 0 && document.activeElement === e));
  await h.go(page, 'columns');
  assert.match(await page.locator('nav').innerText(), /✕/);
  await h.go(page, 'plan');
  await area.fill('tamis: [\n');
  await h.settled(page);
  await page.getByText('This is not YAML').waitFor();
  await h.go(page, 'budget');
  assert.ok(await page.getByLabel('epsilon', {exact: true}).isDisabled(), 'forms wait until it can be read');
  await h.go(page, 'plan');
  await page.getByRole('button', {name: 'Undo'}).last().click();
  await h.settled(page);
  assert.equal(await area.inputValue(), original, 'one undo: all was typed in one place');

  /* a form after a comment was typed: the comment stays */
  await area.fill(original.replace('tamis: 1', 'tamis: 1   # a remark'));
  await h.settled(page);
  await h.go(page, 'budget');
  await page.getByLabel('epsilon', {exact: true}).fill('2.5');
  await h.settled(page);
  assert.equal(await text(page), original.replace('tamis: 1', 'tamis: 1   # a remark').replace('epsilon: 3', 'epsilon: 2.5'));

  /* loaded again, nothing is lost */
  page.on('dialog', d => d.accept());
  await page.reload();
  await page.getByRole('heading', {name: 'How exact, and how private?'}).waitFor();
  assert.match(await text(page), /epsilon: 2\.5/);
  assert.ok(!page.url().includes(server.url.split('#')[1]), 'the secret is not in the address');

  /* another program changes the file */
  appendFileSync(file, '# from elsewhere\n');
  await page.getByRole('button', {name: 'Save', exact: true}).first().click();
  await page.getByText('was changed by another program.').waitFor();
  await page.getByRole('button', {name: 'Show both'}).click();
  await page.getByLabel('What is in the file').getByText('from elsewhere').waitFor();
  await accessible(page, 'Plan, conflict');
  await page.getByRole('button', {name: 'Keep mine'}).click();
  await page.getByText('Saved as schools/plan.yaml.').waitFor();
  assert.match(readFileSync(file, 'utf8'), /epsilon: 2\.5/);
});

await on('read-only: everything but writing', example('schools'), async ({page}) => {
  await h.openPlan(page, 'schools', 'plan.yaml');
  await page.getByLabel('epsilon', {exact: true}).fill('2');
  await h.settled(page);
  assert.ok(await page.getByRole('button', {name: 'Save', exact: true}).first().isDisabled());
  await h.go(page, 'release');
  await page.getByText('--read-only').waitFor();
  await accessible(page, 'Release, read-only');
}, ['--read-only']);

await on('names of columns and files are texts, whatever they contain', where => {
  const bad = '<img src=x onerror=alert(1)>';
  writeFileSync(join(where, `${bad.replace(/[/]/g, '')}.csv`), `"${bad}","a""b","${'x'.repeat(300)}","../../etc",__proto__,constructor\n1,2,3,4,5,6\n`);
}, async ({page}) => {
  let dialogs = 0;
  page.on('dialog', d => { dialogs++; d.dismiss(); });
  await page.getByRole('button', {name: /onerror/}).first().click();
  await page.getByRole('button', {name: 'Begin a plan with this file'}).click();
  await h.settled(page);
  await h.go(page, 'statistics');
  await page.getByLabel('Kind of statistic').selectOption('mean');
  await page.getByLabel('of the column').selectOption('<img src=x onerror=alert(1)>');
  await page.getByLabel('group by').selectOption('__proto__');
  await page.getByRole('button', {name: 'Add', exact: true}).click();
  await h.settled(page);
  for (const step of h.STEPS) {
    await h.go(page, step);
    await h.settled(page);
    assert.equal(await page.locator('main img').count(), 0, step);
    await fits(page, `${step} with hostile names`);
  }
  assert.equal(dialogs, 0);
});

/* ---- a charge that was never published ---- */

const ROWS = 300000;
const unpublished = `tamis: 1
survey: left-behind
source: {file: d.csv}
design: {srs: {population: 3000000, sample: ${ROWS}}}
privacy: {unit: person, epsilon: 0.5}
columns: {a: {values: [x, y]}, b: {from: 0, to: 100, step: 1, typical: {mean: 50, sd: 20}}}
statistics:
  - {count: units, by: a}
  - {mean: b, by: a}
budget: {epsilon: 2}
`;

/** A release that is killed after its charge. */
async function killed(where) {
  for (let i = 0; i < 20; i++) {
    const child = spawn(h.tamis, ['release', 'plan.yaml', '--out', 'killed', '--engine', 'memory'], {cwd: where, stdio: 'ignore'});
    let over = false;
    const end = new Promise(done => child.on('close', () => { over = true; done(null); }));
    while (!over && !readdirSync(where).some(f => /-charge-\d+$/.test(f))) await new Promise(done => setTimeout(done, 1));
    await new Promise(done => setTimeout(done, 5 * i));
    child.kill('SIGKILL');
    await end;
    const {out} = await h.run(['ledger', 'show', 'tamis.ledger', '--json'], where);
    const state = JSON.parse(out || '{"accounts": []}').accounts[0]?.entries.at(-1)?.state;
    if (state === 'charged') return;
    for (const f of readdirSync(where)) if (/ledger|killed/.test(f)) rmSync(join(where, f), {recursive: true});
  }
  assert.fail('the release was never killed between charge and publication');
}

await on('a charge that was never published is void with a reason, or finished for nothing', async where => {
  writeFileSync(join(where, 'plan.yaml'), unpublished);
  writeFileSync(join(where, 'd.csv'), 'a,b\n' + Array.from({length: ROWS}, (_, i) => `${i % 3 ? 'x' : 'y'},${i % 101}`).join('\n') + '\n');
  await killed(where);
}, async ({page, answers, where}) => {
  await h.openPlan(page, 'plan.yaml');
  await h.go(page, 'account');
  await page.getByText('charged, not published').waitFor();
  await accessible(page, 'Account, charged');
  await h.picture(page, 'account-charged');
  await numbersAreOfTheLibrary(page, answers, 'Account, charged');
  await page.getByRole('button', {name: 'Finish it: entry 2'}).click();
  await page.getByText('Costs nothing more:').waitFor();
  await page.getByText('plan valid, budget allows it').waitFor();
  await page.getByLabel('To confirm').fill('left-behind');
  await page.getByRole('button', {name: /publish$/}).click();
  await page.getByText('Verified:').waitFor({timeout: 60000});
  const spent = JSON.parse((await h.run(['ledger', 'show', 'tamis.ledger', '--json'], where)).out).accounts[0];
  assert.equal(spent.shown.spent, 'epsilon 0.5', 'paid once');
  assert.ok(spent.entries.every(e => e.state === 'released'));

  /* Stop: whatever it was doing, what the page says is what the ledger says */
  await h.go(page, 'budget');
  await page.getByLabel('epsilon', {exact: true}).fill('0.25');
  await h.quiet(page);
  await h.go(page, 'release');
  await page.getByLabel('Folder for the results').fill('second');
  await page.getByRole('button', {name: 'Save and check'}).click();
  await page.getByText('plan valid, budget allows it').waitFor();
  await page.getByLabel('To confirm').fill('left-behind');
  await page.getByRole('button', {name: /publish$/}).click();
  await page.getByRole('button', {name: 'Stop'}).click({timeout: 5000}).catch(() => {}); /* it may be done already */
  await page.getByRole('heading', {name: /^(Stopped|Published|It failed)/}).waitFor({timeout: 60000});
  await h.settled(page);
  await accessible(page, 'Release, stopped');
  await h.picture(page, 'release-stopped');
  const after = JSON.parse((await h.run(['ledger', 'show', 'tamis.ledger', '--json'], where)).out).accounts[0];
  const last = after.entries.at(-1), stopped = await page.getByRole('heading', {name: /^(Stopped|It failed)/}).count();
  console.log(`# stopped: ${stopped}, the last entry is ${last.state}`);
  if (!stopped) return;
  if (last.state === 'charged') {
    await h.go(page, 'account');
    await page.getByRole('button', {name: /^Void … entry/}).click();
    await page.getByLabel('Reason').fill('stopped by hand');
    await page.getByRole('button', {name: 'Void it'}).click();
    await page.getByText('voided').waitFor();
    await page.getByText('stopped by hand').waitFor();
  }
});

/* ---- every screen: axe, sideways, pictures ---- */

const sizes = {wide: [1280, 860], narrow: [390, 844], zoom: [640, 430]}; /* 200 % of a window of 1280 is one of 640 */
const looks = long ? Object.keys(sizes).flatMap(s => [[s, 'light'], [s, 'dark']]) : [['wide', 'light'], ['narrow', 'dark'], ['zoom', 'light']];

await on('every screen: axe, no sideways scrolling, pictures', example('schools', 'households'), async ({page}) => {
  const all = async state => {
    for (const [size, colour] of looks) {
      await page.setViewportSize({width: sizes[size][0], height: sizes[size][1]});
      await page.emulateMedia({colorScheme: colour, reducedMotion: 'reduce'});
      for (const step of h.STEPS) {
        await h.go(page, step);
        await h.settled(page);
        const what = `${step}-${state}-${size}-${colour}`;
        await accessible(page, what);
        await fits(page, what);
        await h.picture(page, what);
      }
    }
    await page.setViewportSize({width: 1280, height: 860});
  };
  if (long) await all('empty');
  await h.openPlan(page, 'schools', 'plan.yaml');
  await all('plan');
  await h.go(page, 'release');
  await page.getByText('plan valid, budget allows it').waitFor();
  await page.getByLabel('To confirm').fill('california-schools-2000-by-type');
  await page.getByRole('button', {name: /^Spend/}).click();
  await page.getByText('Verified:').waitFor({timeout: 30000});
  await h.quiet(page);
  await accessible(page, 'Release, done');
  await h.picture(page, 'release-done');
  if (long) await all('done');
  if (long) {
    await h.go(page, 'budget');
    await page.getByLabel('epsilon', {exact: true}).fill('9');
    await h.quiet(page);
    await all('refused');
    await h.go(page, 'plan');
    await page.getByLabel('The plan as text').fill('tamis: 1\nsurvey: FILL_IN\ncolumns: {a: {from: 5, to: 1, step: x}}\n');
    await h.settled(page);
    await all('errors');
    await h.go(page, 'plan');
    await page.getByLabel('The plan as text').fill('tamis: [');
    await h.settled(page);
    await all('unreadable');
  }
});

await close();
h.end();
