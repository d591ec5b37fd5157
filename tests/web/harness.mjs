/* A server in a folder of its own, a browser, and what the tests of the page share. */

import {spawn} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const tamis = process.env.TAMIS ?? join(root, 'build/release/cli/tamis');
export const pictures = process.env.TAMIS_PICTURES ?? join(root, 'build/page');

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

/** Why the tests cannot run here; null: they can. */
export async function cannot() {
  if (!existsSync('/usr/bin/chromium')) return 'no chromium';
  try {
    await import('playwright-core');
    await import('axe-core');
  } catch {
    return 'no playwright-core or axe-core: scripts/setup test installs them';
  }
  const help = await run(['serve', '--help']);
  return help.code === 0 ? null : 'this tamis has no page';
}

/** @param {string[]} args @param {string} [cwd] */
export function run(args, cwd = tmpdir()) {
  return new Promise(done => {
    const child = spawn(tamis, args, {cwd});
    let out = '', err = '';
    child.stdout.on('data', d => { out += d; });
    child.stderr.on('data', d => { err += d; });
    child.on('error', e => done({code: 127, out, err: String(e)}));
    child.on('close', code => done({code, out, err}));
  });
}

/** A new folder with files of the examples. @param {string[]} names */
export function folder(...names) {
  const to = mkdtempSync(join(tmpdir(), 'tamis-page-'));
  for (const name of names) cpSync(join(root, 'examples', name), join(to, name), {recursive: true});
  return to;
}

/** @param {string} where @param {string[]} [more] */
export async function serve(where, more = []) {
  const child = spawn(tamis, ['serve', where, '--json', '--no-open', ...more], {stdio: ['ignore', 'pipe', 'pipe']});
  let out = '', err = '';
  child.stderr.on('data', d => { err += d; });
  const address = await new Promise((done, fail) => {
    child.on('close', code => fail(new Error(`tamis serve ended with ${code}: ${err}`)));
    child.stdout.on('data', d => {
      out += d;
      try {
        done(JSON.parse(out));
      } catch { /* not all of it yet */ }
    });
  });
  const url = address.url ?? address.address;
  return {url, child, log: () => err, stop: () => new Promise(done => { child.on('close', done); child.kill('SIGTERM'); })};
}

/** @param {{width?: number, height?: number, dark?: boolean, scale?: number}} [how] */
export async function browser(how = {}) {
  const {chromium} = await import('playwright-core');
  const profile = mkdtempSync(join(tmpdir(), 'tamis-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: '/usr/bin/chromium', args: FLAGS.slice(1), headless: true, viewport: {width: how.width ?? 1280, height: how.height ?? 860},
    colorScheme: how.dark ? 'dark' : 'light', reducedMotion: 'reduce', acceptDownloads: true,
  });
  return {context, close: async () => { await context.close(); rmSync(profile, {recursive: true, force: true}); }};
}

/** A tab with the page. What the console and the network complain about is collected. @param {any} context @param {string} url */
export async function open(context, url) {
  const page = await context.newPage();
  const errors = [], answers = [], hosts = new Set();
  page.on('console', m => { if (m.type() === 'error' && !/status of (409|422|403|404|503)/.test(m.text())) errors.push(m.text()); });
  page.on('pageerror', e => errors.push(String(e.stack ?? e)));
  page.on('request', r => { if (/^https?:/.test(r.url())) hosts.add(new URL(r.url()).host); });
  page.on('response', async r => {
    if (r.url().includes('/api/')) answers.push({name: r.url().replace(/.*\/api\//, ''), status: r.status(), text: await r.text().catch(() => '')});
  });
  const state = {pending: 0, last: Date.now()};
  waits.set(page, state);
  const edits = r => /\/api\/(?!preview|job)/.test(r.url());
  page.on('request', r => { if (edits(r)) state.pending++, state.last = Date.now(); });
  const over = r => { if (edits(r)) state.pending--, state.last = Date.now(); };
  page.on('requestfinished', over);
  page.on('requestfailed', over);
  await page.goto(url);
  await page.waitForSelector('h1');
  return {page, errors, answers, hosts};
}

/** @type {Map<any, {pending: number, last: number}>} */
const waits = new Map();

/** Waits until changes of the plan are done; forecasts may go on. @param {any} page */
export async function settled(page) {
  const state = waits.get(page);
  await page.waitForTimeout(90);
  while (state.pending > 0 || Date.now() - state.last < 70) await page.waitForTimeout(20);
}

/** Waits until nothing is under way. @param {any} page */
export async function quiet(page) {
  await page.waitForTimeout(120);
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(520);
  await page.waitForLoadState('networkidle');
}

/** @param {any} page @param {string} step */
export async function go(page, step) {
  await page.evaluate(s => { location.hash = '#' + s; }, step);
  await page.waitForTimeout(150);
}

/** Opens a plan of the folder on the page. @param {any} page @param {string[]} path folders and the plan */
export async function openPlan(page, ...path) {
  await go(page, 'data');
  for (const name of path.slice(0, -1)) {
    await page.getByRole('button', {name: name + '/', exact: true}).click();
    await page.getByRole('button', {name: path[path.length - 1], exact: true}).first().waitFor();
  }
  await page.getByRole('button', {name: path[path.length - 1], exact: true}).click();
  await page.getByRole('heading', {name: 'How exact, and how private?'}).waitFor();
  await quiet(page);
}

export const STEPS = ['data', 'design', 'protected', 'statistics', 'columns', 'budget', 'plan', 'release', 'account'];

/** @param {any} page @param {string} name @param {boolean} [whole] */
export async function picture(page, name, whole = true) {
  mkdirSync(pictures, {recursive: true});
  const {width, height} = page.viewportSize();
  if (whole) {
    /* what sticks to the edges of the window is drawn where it belongs in a window that has room for all */
    const all = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({width, height: Math.max(height, Math.min(all, 6000))});
    await page.waitForTimeout(50);
  }
  await page.screenshot({path: join(pictures, name + '.png')});
  await page.setViewportSize({width, height});
}

let failed = 0, number = 0;

/** One test in TAP. @param {string} name @param {() => Promise<void>} body */
export async function test(name, body) {
  number++;
  const begin = Date.now();
  try {
    await body();
    console.log(`ok ${number} - ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`not ok ${number} - ${name}`);
    console.log(String(error?.stack ?? error).replace(/^/gm, '# '));
  }
}

export function end() {
  console.log(`1..${number}`);
  process.exit(failed ? 1 : 0);
}
