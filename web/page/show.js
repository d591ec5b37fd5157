/* Pictures and words made from what the library says. Widths follow its numbers; every number that is written is one of its texts. */

import {el, svg} from './dom.js';

/** The group with the largest expected CV of a statistic, or the statistic itself. @param {any} s */
export function worstOf(s) {
  const groups = (s.groups ?? []).filter(g => typeof g.cv === 'number');
  if (!groups.length) return s;
  return groups.reduce((a, b) => (b.cv > a.cv ? b : a));
}

/** The least exact number of a preview. @param {any} preview */
export function widest(preview) {
  const all = (preview.statistics ?? []).filter(s => !s.known).map(worstOf).filter(w => typeof w.cv === 'number' && w.shown?.cv);
  return all.length ? all.reduce((a, b) => (b.cv > a.cv ? b : a)) : null;
}

/** @param {any} group {region: north} */
export const groupName = group => Object.values(group ?? {}).join(', ');

const WORDS = {E: 'E', F: 'F'};

/** Letter, word and colour of a quality. @param {string | null | undefined} quality @param {boolean} known whether there is a CV at all */
export function quality(quality, known = true) {
  if (!known) return el('span', {class: 'quality none'}, '–');
  if (!quality) return el('span', {class: 'quality good'}, 'good');
  return el('span', {class: `quality ${quality}`}, `${WORDS[quality] ?? quality} `, el('small', {}, quality === 'F' ? 'unreliable' : 'use with caution'));
}

const END = 0.4; /* the CV at the right end of a bar */

/** The bar of an expected error: sampling, then what the noise adds, with lines at the limits of quality.
 * @param {{cv: number | null, se: number, sampling_se: number | null}} e @param {string} words @param {boolean} [guess] nothing says how large the number is */
export function bar(e, words, guess = false) {
  const known = typeof e.cv === 'number' && e.se > 0;
  const whole = known ? Math.min(/** @type {number} */ (e.cv), END) : 0;
  const part = known ? whole * Math.min(1, (e.sampling_se ?? 0) / e.se) : 0;
  const x = v => (100 * v) / END;
  return svg('svg', {class: `bar${guess ? ' guess' : ''}`, viewBox: '0 0 100 12', preserveAspectRatio: 'none', role: 'img', 'aria-label': words},
    svg('rect', {class: 'track', x: 0, y: 0, width: 100, height: 12}),
    svg('rect', {class: 'sampling', x: 0, y: 2, width: x(part), height: 8}),
    svg('rect', {class: 'noise', x: x(part), y: 2, width: x(whole - part), height: 8}),
    svg('line', {class: 'limit e', x1: x(0.165), x2: x(0.165), y1: 0, y2: 12}),
    svg('line', {class: 'limit f', x1: x(0.333), x2: x(0.333), y1: 0, y2: 12}));
}

/** A belief before and after, as a bar. @param {number} before @param {number} after */
export function belief(before, after) {
  return svg('svg', {class: 'belief', viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true'},
    svg('rect', {class: 'track', x: 0, y: 0, width: 100, height: 6}),
    svg('rect', {class: 'noise', x: 0, y: 0, width: 100 * Math.min(1, after), height: 6}),
    svg('rect', {class: 'sampling', x: 0, y: 0, width: 100 * before, height: 6}));
}

/** A picture of the library: SVG text as an image, so that no markup becomes part of the page. @param {string} text @param {string} alt */
export function picture(text, alt) {
  const url = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
  return el('img', {class: 'picture', src: url, alt, on: {load: () => URL.revokeObjectURL(url)}});
}

/** What a promise means to somebody: the numbers, and `shown`, their texts. @param {any} of a preview, or the list of the route `meaning` @param {string} who */
export function meaningOf(of, who) {
  const find = list => (list ?? []).find(m => m.who === who);
  if (!of || Array.isArray(of)) return find(of);
  const found = find(of.guarantee?.meaning);
  return found && {...found, shown: find(of.shown?.meaning)?.shown};
}

/** A text to download. @param {string} name @param {string} text */
export function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], {type: 'text/plain'}));
  const link = el('a', {href: url, download: name});
  link.click();
  URL.revokeObjectURL(url);
}
