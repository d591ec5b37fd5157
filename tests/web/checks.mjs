/* What must hold on every screen: no violation found by axe, no number that the library did not say, nothing outside the window. */

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** @param {any} page @param {string} what */
export async function accessible(page, what) {
  /* The script of axe comes from the test, which the page's policy does not forbid: it is run by the debugger. */
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => /** @type {any} */ (window).axe.run(document, {resultTypes: ['violations'],
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}));
  assert.deepEqual(violations.map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + n.failureSummary.slice(0, 200)).join(' | ')}`), [], what);
}

/** The page itself never scrolls sideways; what is wide scrolls in its own frame, and no table is wider than the place that it has. @param {any} page @param {string} what */
export async function fits(page, what) {
  const wide = await page.evaluate(() => {
    const root = document.documentElement;
    const out = [...document.querySelectorAll('main table')].find(t => !t.closest('.scroll') && t.checkVisibility() &&
      t.getBoundingClientRect().right > t.parentElement.getBoundingClientRect().right + 1);
    if (out) return `a table is wider than its place: ${out.outerHTML.slice(0, 120)}`;
    if (root.scrollWidth <= root.clientWidth + 1) return null;
    const far = [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest('.scroll, nav, .editor, .hidden'));
    return `${root.scrollWidth} of ${root.clientWidth}: ${far.slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join(' | ')}`;
  });
  assert.equal(wide, null, what);
}

const token = /\d(?:[\d,.]*\d)?/g;

/** Numbers that the page may say by itself: the beliefs that promises start from, and the limits of the quality letters. */
const OWN = new Set(['10', '5', '16.5', '33.3']);

/** Every number on the screen is in an answer of the library, digit by digit. @param {any} page @param {{text: string}[]} answers @param {string} what */
export async function numbersAreOfTheLibrary(page, answers, what) {
  await page.waitForTimeout(300); /* the last answers are read by now */
  const said = new Set(answers.flatMap(a => a.text.match(token) ?? []));
  const shown = await page.evaluate(() => {
    const out = [];
    const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    for (let n = walk.nextNode(); n; n = walk.nextNode()) {
      const e = n.parentElement;
      /* ordinals of the steps of a screen, times of this computer */
      if (e.closest('[hidden], time, .ordinal') || !e.checkVisibility()) continue;
      out.push(n.textContent);
    }
    for (const e of document.querySelectorAll('main [aria-label]')) if (e.checkVisibility()) out.push(e.getAttribute('aria-label'));
    for (const e of document.querySelectorAll('#facts span')) out.push(e.textContent);
    return out;
  });
  let count = 0;
  for (const text of shown) {
    const words = text.replace(/released \d.*$/, '').replace(/^[123]\. (Check|Spend|Publish)/, '').replace(/1e-6/, '');
    for (const number of words.match(token) ?? []) {
      count++;
      assert.ok(OWN.has(number) || said.has(number), `${what}: ${number} in "${text}" is in no answer of the library`);
    }
  }
  return count;
}
