/* What the page knows without a browser: questions, lists, texts. Designs and settings are checked by tamis itself. */

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {root, run, tamis} from './harness.mjs';
import * as lists from '../../web/page/lists.js';
import * as q from '../../web/page/questions.js';
import * as t from '../../web/page/text.js';

/* ---- sources ---- */

const page = join(root, 'web/page'), sources = readdirSync(page).map(name => ({name, text: readFileSync(join(page, name), 'utf8')}));

test('no markup from texts, no other host, no code from texts; below 150 kB as it is sent', () => {
  for (const {name, text} of sources) {
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc/, name);
    assert.doesNotMatch(text.replaceAll('http://www.w3.org/2000/svg', ''), /https?:\/\/|\/\/[a-z]+\.[a-z]/, name);
    assert.doesNotMatch(text, /style="|toFixed|toPrecision\((?!12)/, name);
  }
  const sent = sources.reduce((n, s) => n + gzipSync(s.text, {level: 9}).length, 0);
  console.log(`# ${sources.reduce((n, s) => n + s.text.length, 0)} letters, ${sent} bytes as they are sent`);
  assert.ok(sent < 150_000);
});

const tsc = join(root, 'tests/web/node_modules/typescript/bin/tsc');

test('types', {skip: existsSync(tsc) ? false : 'no typescript: scripts/setup test installs it'}, () => {
  try {
    execFileSync(process.execPath, [tsc, '-p', join(root, 'tests/web/tsconfig.json')], {encoding: 'utf8'});
  } catch (error) {
    assert.fail(error.stdout);
  }
});

/* ---- texts ---- */

test('pointers', () => {
  assert.equal(t.pointer('columns', 'a/b~c', 0), '/columns/a~1b~0c/0');
  assert.deepEqual(t.parts('/columns/a~1b~0c/0'), ['columns', 'a/b~c', '0']);
  assert.equal(t.at({a: {'b/c': [1, {d: 'x'}]}}, '/a/b~1c/1/d'), 'x');
  assert.equal(t.at({a: 'text'}, '/a/b'), undefined);
  assert.equal(t.at({}, '/toString'), undefined);
});

test('keys of errors are paths, also where names have dots', () => {
  const tree = {columns: {'a.b': {to: '1'}, a: {}}, statistics: [{by: 'x'}]};
  assert.equal(t.pathOfKey('columns.a.b.to', tree), '/columns/a.b/to');
  assert.equal(t.pathOfKey('columns.a', tree), '/columns/a');
  assert.equal(t.pathOfKey('statistics[0].by', tree), '/statistics/0/by');
  assert.equal(t.pathOfKey('privacy.epsilon', tree), '/privacy/epsilon');
  assert.equal(t.pathOfKey(null, tree), '');
});

test('every key has a step', () => {
  assert.equal(t.stepOf('/privacy/epsilon'), 'budget');
  assert.equal(t.stepOf('/privacy/unit'), 'protected');
  assert.equal(t.stepOf('/calibrate/to'), 'design');
  assert.equal(t.stepOf('/postprocess'), 'plan');
  const marks = t.marks({errors: [{message: 'columns.x: expected the key from', key: 'columns.x'}, {message: 'wrong', key: 'design'}], tree: {statistics: [{}], budget: {}}});
  assert.deepEqual(marks.columns, {missing: 1, wrong: 0});
  assert.deepEqual(marks.design, {missing: 0, wrong: 1});
  assert.deepEqual(marks.statistics, {missing: 0, wrong: 0});
  assert.equal(t.marks({errors: ['x.from', 'x.to', 'y.values'].map(key => ({message: `columns.${key} is to be filled in`, key: 'columns.' + key})), tree: {columns: {x: {}, y: {}}}}).columns.missing, 2);
  assert.equal(t.marks({errors: [], tree: {statistics: []}}).statistics.missing, 1);
  assert.equal(t.marks({errors: [{message: 'expected the key design, e.g. x', key: null}], tree: {}}).design.missing, 1);
});

test('numbers keep their digits', () => {
  assert.equal(t.number('4421'), 4421);
  assert.equal(t.number(' 64,008 '), 64008);
  assert.equal(t.number('0.10'), '0.10');
  assert.equal(t.number('1/3'), '1/3');
  assert.equal(t.number('12345678901234567890'), '12345678901234567890');
  assert.equal(t.number(''), null);
});

test('undo is a list of texts; a field set back gives the same bytes', () => {
  const h = new t.History("a: '1'\n", {a: '1'});
  h.add('a: 2\n', {a: '2'}, '/a', true);
  h.add('a: 3\n', {a: '3'}, '/a', true);
  assert.equal(h.list.length, 2, 'changes at one place are one step');
  assert.equal(h.same({a: '1'}), "a: '1'\n");
  h.add('a: 3 # c\n', {a: '3'}, null, false);
  h.add('a: 4 # c\n', {a: '4'}, '/a', true);
  assert.equal(h.same({a: '1'}), null, 'not beyond what was typed as text');
  assert.equal(h.undo(), 'a: 3 # c\n');
  assert.equal(h.undo(), 'a: 3\n');
  assert.equal(h.redo(), 'a: 3 # c\n');
  h.add('b: 1\n', {b: '1'}, null, true);
  assert.equal(h.redo(), null);
});

test('notes are comments on the line of a value', () => {
  const text = 'columns:\n  é: {from: 0, to: 5}   # old\n  b: {values: ["# no"]}\n';
  const end = s => ({end: new TextEncoder().encode(text.slice(0, text.indexOf(s) + s.length)).length});
  assert.equal(t.noteOf(text, end('to: 5}')), 'old');
  assert.equal(t.noteOf(text, end('no"]}')), '');
  assert.equal(t.withNote(text, end('to: 5}'), 'new\nline'), text.replace('# old', '# new line'));
  assert.equal(t.withNote(text, end('no"]}'), 'q. 3'), text.replace('no"]}', 'no"]}   # q. 3'));
  assert.equal(t.withNote(text, end('to: 5}'), ''), text.replace('   # old', ''));
});

test('sections get lines of their own', () => {
  const text = 'a: 1\ndesign: {stratified: {by: r}} # why\nb: 2\n';
  const place = {path: '/design', begin: 13, end: 34, key: {begin: 5}};
  const value = {stratified: {by: 'r', within: 'srs', strata: {'no': {population: 3, sample: 2}, 'x y': {population: '1/2'}}}};
  assert.equal(t.inLines(text, place, value),
    'a: 1\ndesign: # why\n  stratified:\n    by: r\n    within: srs\n    strata:\n      "no": {population: 3, sample: 2}\n      "x y": {population: 1/2}\nb: 2\n');
  assert.equal(t.inLines('{design: {a: 1}}', {path: '/design', begin: 9, end: 15, key: {begin: 1}}, value), '{design: {a: 1}}');
  assert.equal(t.unquoted('a: "0.433"\n', {begin: 3, end: 10, quoted: true}, '0.433'), 'a: 0.433\n');
  assert.equal(t.unquoted('a: "no"\n', {begin: 3, end: 7, quoted: true}, 'no'), 'a: "no"\n');
});

/* ---- lists ---- */

test('strata from spreadsheets', () => {
  const {strata, problems} = lists.strataOf('region\tpopulation\tsample\nnorth\t9,416\t2000\n"a, b"\t100\t7\n\n', ['population', 'sample']);
  assert.deepEqual(problems, []);
  assert.deepEqual(strata, [['north', {population: 9416, sample: 2000}], ['a, b', {population: 100, sample: 7}]]);
  assert.deepEqual(lists.strataOf('n,10,2\ns;e,5', ['population', 'sample']).problems.length, 1);
  assert.deepEqual(lists.strataOf('Upper Austria 900 30', ['population', 'sample']).strata, [['Upper Austria', {population: 900, sample: 30}]]);
  assert.match(lists.strataOf('n\t10\t2\nn\t10\t2', ['population', 'sample']).problems[0], /was there before/);
  assert.equal(lists.strataOf(Array.from({length: 10000}, (_, i) => `s${i}\t10\t2`).join('\n'), ['population', 'sample']).strata.length, 10000);
});

test('code lists', () => {
  assert.deepEqual(lists.codesOf('1 yes\n2 no'), [{code: '1', label: 'yes'}, {code: '2', label: 'no'}]);
  assert.deepEqual(lists.codesOf('m = male\nf = female\nf = again').map(c => c.code), ['m', 'f']);
  assert.deepEqual(lists.codesOf('Lower Austria\nVienna').map(c => c.code), ['Lower Austria', 'Vienna']);
  assert.deepEqual(lists.codesOf('a, b, c').map(c => c.code), ['a', 'b', 'c']);
  assert.deepEqual(lists.codesOf('01\tnorth\n02\tsouth'), [{code: '01', label: 'north'}, {code: '02', label: 'south'}]);
});

test('codebooks', () => {
  const {columns, problems} = lists.codebookOf('column,code,label,from,to,missing\nsex,,Sex,,,\nsex,1,male,,,\nsex,2,"female, or so",,,\nsex,9,,,,x\nincome,,Income,0,20000,97 98\n');
  assert.deepEqual(problems, []);
  assert.deepEqual(columns.get('sex'), {label: 'Sex', values: ['1', '2'], labels: ['male', 'female, or so'], missing_codes: ['9']});
  assert.deepEqual(columns.get('income'), {label: 'Income', from: '0', to: '20000', missing_codes: ['97', '98']});
  assert.equal(lists.codebookOf('a,b\n1,2').problems.length, 1);
});

test('58 columns: only those in use are asked for', () => {
  const header = Array.from({length: 58}, (_, i) => ({name: `q${i}`, label: i === 5 ? 'Income of the household' : null}));
  const tree = {design: {stratified: {by: 'q1', within: 'srs', strata: {}}}, columns: {q2: {values: ['a']}, q3: {step: '1'}}, statistics: [{mean: 'q3', by: ['q1', 'q2']}, {share: {q4: 'yes'}}]};
  const all = lists.columnList(tree, header, new Set());
  assert.equal(all.length, 58);
  assert.deepEqual(lists.shown(all, 'fill', '').map(c => c.name), ['q3', 'q4']);
  assert.deepEqual(lists.shown(all, 'used', '').map(c => c.name), ['q1', 'q2', 'q3', 'q4']);
  assert.deepEqual(lists.shown(all, 'all', 'household income').map(c => c.name), ['q5']);
  assert.deepEqual(all[4].mentioned, ['yes']);
  assert.deepEqual(lists.declarations(tree, {mean: 'q5', by: 'q1', where: {q2: 'a', 'q/9': 'b'}}, header), [{path: '/columns/q5', value: {step: 1, label: 'Income of the household'}}, {path: '/columns/q~19', value: {}}]);
  assert.deepEqual(lists.setForAll(['q2', 'q3'], {from: 0, to: 5, step: 1}, tree), [{path: '/columns/q2', value: {from: 0, to: 5, step: 1}}, {path: '/columns/q3', value: {step: 1, from: 0, to: 5}}]);
});

/* ---- statistics ---- */

const form = more => ({kind: 'count', column: '', being: [], to: [], toColumn: '', by: [], where: [], at: '', line: '', cuts: '', ...more});
const is = (column, ...values) => ({column, is: 'values', values, from: '', to: ''});

test('sentences become statistics', () => {
  const of = f => q.statisticOf(form(f)).statistic;
  assert.deepEqual(of({by: [{column: 'sex', cuts: ''}]}), {count: 'units', by: 'sex'});
  assert.deepEqual(of({kind: 'share', being: [is('status', 'a', 'b')]}), {share: {status: ['a', 'b']}});
  assert.deepEqual(of({kind: 'mean', column: 'hours', by: [{column: 'age', cuts: '16, 65'}, {column: 'sex', cuts: ''}], where: [{column: 'age', is: 'range', from: '16', to: '', values: []}]}),
    {mean: 'hours', by: [{age: [16, 65]}, 'sex'], where: {age: {from: 16}}});
  assert.deepEqual(of({kind: 'ratio', being: [is('s', 'u')], to: [is('s', 'e', 'u')]}), {ratio: {of: {s: 'u'}, to: {s: ['e', 'u']}}});
  assert.deepEqual(of({kind: 'quantile', column: 'x', at: '0.1 0.5'}), {quantile: 'x', at: ['0.1', '0.5']});
  assert.ok(q.statisticOf(form({kind: 'mean'})).missing);
  assert.ok(q.statisticOf(form({where: [is('')]})).missing);
  assert.equal(q.sentence({share: {status: ['a', 'b']}, by: 'sex'}), 'Share of status a or b by sex');
});

/* ---- designs and settings, read by tamis ---- */

const values = {population: 6000, sample: 300, rate: '1/20', probability: 'pi', method: 'sampford', order: 'random', by: 'g', smallest: 5, largest: 60};
const nested = {'first/by': 'g', 'first/population': 400, 'first/sample': 40, 'second/population': 'size', 'second/sample': 5};

/** A design with every field that its questions ask for. */
function complete(kind, strata) {
  const design = q.designOf(q.answersOf(kind, strata), null, 'region');
  const own = Object.fromEntries(q.FIELDS[kind].filter(f => f.need).map(f => [f.key, f.key in nested ? nested[f.key] : kind === 'cluster' && f.key === 'population' ? 400 : kind === 'cluster' && f.key === 'sample' ? 40 : values[f.key]]));
  const map = {};
  const sized = strata ? (q.IN_STRATA[kind] ?? []).map(f => f.key) : [];
  for (const [key, value] of Object.entries(own)) {
    const [a, b] = key.split('/');
    if (sized.includes(b ?? a) && a !== 'second') continue;
    if (b) (map[a] ??= {})[b] = value;
    else map[a] = value;
  }
  if (strata) {
    if (Object.keys(map).length) design.stratified.within = {[kind]: map};
    const sizes = {population: own['first/population'] ?? own.population ?? 6000, sample: own['first/sample'] ?? own.sample ?? 300, rate: '1/20'};
    const of = Object.fromEntries((q.IN_STRATA[kind] ?? []).map(f => [f.key, sizes[f.key]]));
    design.stratified.strata = {n: of, s: of};
  } else design[kind] = map;
  if (['weights', 'poisson', 'pps', 'two_stage'].includes(kind)) design.max_weight = 900;
  if (kind === 'weights') design.weight = 'w';
  return design;
}

test('questions lead to the eleven designs and back', () => {
  for (const kind of q.KINDS) for (const strata of [false, true]) {
    if (kind === 'weights' && strata) continue;
    assert.equal(q.kindOf(q.answersOf(kind, strata)), kind);
    const read = q.readDesign(complete(kind, strata));
    assert.deepEqual([read.kind, read.strata], [kind, strata]);
  }
  assert.equal(q.KINDS.length + 1, 11, 'ten kinds, and strata around them');
});

test('another kind of design takes over what it has in common', () => {
  const srs = {srs: {population: '100', sample: '10'}, nonresponse: 'yes'};
  assert.deepEqual(q.designOf(q.answersOf('systematic', false), srs), {systematic: {population: '100', sample: '10'}, nonresponse: 'yes'});
  assert.deepEqual(q.designOf(q.answersOf('srs', true), srs, 'r'), {stratified: {by: 'r', within: 'srs', strata: {}}, nonresponse: 'yes'});
  const strata = {stratified: {by: 'r', within: 'srs', strata: {n: {population: '5', sample: '2'}}}};
  assert.deepEqual(q.designOf(q.answersOf('census', true), strata).stratified, {by: 'r', within: 'census', strata: {n: {population: '5'}}});
});

test('settings and answers', () => {
  for (const known of ['yes', 'no']) for (const confidential of ['yes', 'no']) for (const list of ['list', 'population', 'neither']) {
    const to = q.settingOf({known, confidential, list});
    if (known === 'no' && confidential === 'yes') assert.equal(to, null);
    else assert.deepEqual(q.settingAnswers(to), {known, confidential, list: known === 'no' && list === 'list' ? 'population' : list});
  }
  assert.deepEqual(q.settingAnswers({}), {known: 'yes', confidential: 'no', list: 'list'});
  assert.equal(q.settingAnswers({protect: 'population', given: 'nothing'}), null);
});

test('every combination reads as a plan, or tamis says why not', {skip: existsSync(tamis) ? false : 'no tamis'}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tamis-logic-'));
  let plans = 0, refused = 0;
  const jobs = [];
  for (const kind of q.KINDS) for (const strata of [false, true]) {
    if (kind === 'weights' && strata) continue;
    for (const known of ['yes', 'no']) for (const confidential of ['yes', 'no']) for (const list of ['list', 'neither']) {
      const setting = q.settingOf({known, confidential, list});
      if (!setting) continue;
      const several = kind === 'srs_with_replacement' ? {id: 'id', rows_per_unit: 3} : kind === 'poisson' || kind === 'pps' ? {id: 'id'} : {};
      const plan = {tamis: 1, survey: 's', source: {file: 'a.csv'}, design: complete(kind, strata), privacy: {unit: 'person', ...several, ...setting, epsilon: 1},
        columns: {x: {values: ['a', 'b']}}, statistics: [{share: {x: 'a'}}], budget: {epsilon: 2}};
      jobs.push({plan, name: [kind, strata, known, confidential, list].join('-')});
    }
  }
  await Promise.all([0, 1].map(async k => {
    for (let i = k; i < jobs.length; i += 2) {
      const file = join(folder, `${i}.yaml`);
      writeFileSync(file, JSON.stringify(jobs[i].plan));
      const {code, out} = await run(['check', file, '--json', '--quiet']);
      const json = JSON.parse(out);
      assert.ok(code === 0 || code === 4 || code === 5, `${jobs[i].name}: ${json.message}`);
      if (code === 0) plans++;
      else {
        refused++;
        assert.ok(json.message.length > 20, jobs[i].name);
      }
    }
  }));
  console.log(`# ${plans} plans, ${refused} refused with a reason`);
  assert.ok(plans > refused);
});
