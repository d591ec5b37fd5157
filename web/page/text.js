/* Texts of plans without a page: pointers into the tree, undo, errors by step, notes in comments. Nothing here is a model of a plan:
 * the text is the plan, and the tree is what the library read in it. */

/** JSON Pointer of keys and numbers. @param {...(string | number)} parts */
export const pointer = (...parts) => parts.map(p => '/' + String(p).replace(/~/g, '~0').replace(/\//g, '~1')).join('');

/** @param {string} path */
export const parts = path => path.split('/').slice(1).map(p => p.replace(/~1/g, '/').replace(/~0/g, '~'));

/** What the tree has at a path, or undefined. @param {any} tree @param {string} path @returns {any} */
export function at(tree, path) {
  let node = tree;
  for (const key of parts(path)) {
    if (node === null || typeof node !== 'object') return undefined;
    node = Object.hasOwn(node, key) ? node[key] : undefined;
  }
  return node;
}

/** The path of an error's key: "statistics[1].by" or "columns.hours.to". Keys may contain dots: the longest one that the tree has wins.
 * @param {string | null} key @param {any} tree */
export function pathOfKey(key, tree) {
  if (!key) return '';
  let path = '', node = tree, rest = key;
  while (rest) {
    const item = /^\[(\d+)\]\.?/.exec(rest);
    if (item) {
      path += '/' + item[1];
      node = node?.[item[1]];
      rest = rest.slice(item[0].length);
      continue;
    }
    let found = '';
    if (node && typeof node === 'object' && !Array.isArray(node)) {
      for (const k of Object.keys(node))
        if (k.length > found.length && rest.startsWith(k) && (rest.length === k.length || '.['.includes(rest[k.length]))) found = k;
    }
    if (!found) found = /** @type {RegExpExecArray} */ (/^[^.[]*/.exec(rest))[0] || rest;
    path += pointer(found);
    node = node?.[found];
    rest = rest.slice(found.length).replace(/^\./, '');
  }
  return path;
}

/** Where an error is: at its key, or at the key that is missing altogether. @param {{message: string, key: string | null}} e @param {any} tree */
export function placeOfError(e, tree) {
  const missing = e.key ? null : /expected the key (\w+)/.exec(e.message);
  return missing ? pointer(missing[1]) : pathOfKey(e.key, tree);
}

export const STEPS = [
  {name: 'data', title: 'Data'},
  {name: 'design', title: 'Design'},
  {name: 'protected', title: 'Who is protected'},
  {name: 'statistics', title: 'Statistics'},
  {name: 'columns', title: 'Columns'},
  {name: 'budget', title: 'Budget'},
  {name: 'plan', title: 'Plan'},
  {name: 'release', title: 'Release'},
  {name: 'account', title: 'Account'},
];

const OF_KEY = {
  tamis: 'data', survey: 'data', title: 'data', source: 'data', wave: 'data', design: 'design', calibrate: 'design',
  privacy: 'protected', statistics: 'statistics', columns: 'columns', budget: 'budget',
};

/** The step where a key of the plan is answered. @param {string} path */
export function stepOf(path) {
  const [first, second] = parts(path);
  if (first === 'privacy' && ['epsilon', 'delta', 'rho'].includes(second)) return 'budget';
  return /** @type {Record<string, string>} */ (OF_KEY)[first] ?? 'plan';
}

/** Whether an error only says that something is still missing. @param {{message: string}} error */
export const isMissing = error => /to be filled in|expected the key|expected a number or a category|expected at least one|expected a list of 1 to/.test(error.message);

/**
 * What each step shows beside its name.
 * @param {{errors: {message: string, key: string | null}[], tree: any} | null} draft
 * @returns {Record<string, {missing: number, wrong: number}>}
 */
export function marks(draft) {
  const result = Object.fromEntries(STEPS.map(s => [s.name, {missing: 0, wrong: 0}]));
  /** @type {Set<string>} */ const columns = new Set();
  for (const error of draft?.errors ?? []) {
    const place = placeOfError(error, draft?.tree), name = stepOf(place), step = result[name];
    if (!isMissing(error)) step.wrong++;
    else if (name !== 'columns') step.missing++;
    else columns.add(parts(place)[1]); /* a column without its range is one thing to fill in, not two */
  }
  result.columns.missing = columns.size;
  const statistics = draft?.tree?.statistics;
  if (draft && !result.statistics.missing && !(Array.isArray(statistics) && statistics.length)) result.statistics.missing = 1;
  if (draft?.tree && draft.tree.budget === undefined) result.budget.missing++;
  return result;
}

/** A number as it is sent: whole ones as numbers, others as texts, so that not a digit changes; nothing removes the key.
 * @param {string} text @returns {string | number | null} */
export function number(text) {
  const t = text.trim().replace(/(\d)[ \u00a0\u202f,](?=\d{3}\b)/g, '$1');
  if (t === '') return null;
  return /^-?(0|[1-9]\d{0,14})$/.test(t) ? Number(t) : t;
}

/** Undo: a list of texts. A series of changes at one place is one step. */
export class History {
  /** @param {string} text @param {any} tree */
  constructor(text, tree) {
    /** @type {{text: string, tree: string, form: boolean, place: string | null}[]} */
    this.list = [{text, tree: JSON.stringify(tree), form: true, place: null}];
    this.now = 0;
  }

  /** Adds a text; `place` joins it to the last one if that was made there as well.
   * @param {string} text @param {any} tree @param {string | null} place @param {boolean} form */
  add(text, tree, place, form) {
    if (text === this.list[this.now].text) return;
    this.list.length = this.now + 1;
    const entry = {text, tree: JSON.stringify(tree), form, place};
    if (this.now > 0 && place !== null && this.list[this.now].place === place) this.list[this.now] = entry;
    else this.now = this.list.push(entry) - 1;
    if (this.list.length > 500) {
      this.list.splice(1, 1);
      this.now--;
    }
  }

  /** The text in which forms had this tree before, so that a field set back gives back the same bytes; or null.
   * @param {any} tree @returns {string | null} */
  same(tree) {
    const wanted = JSON.stringify(tree);
    for (let i = this.now; i >= 0; i--) {
      if (this.list[i].tree === wanted) return this.list[i].text;
      if (!this.list[i].form) return null;
    }
    return null;
  }

  /** @returns {string | null} */
  undo() { return this.now > 0 ? this.list[--this.now].text : null; }

  /** @returns {string | null} */
  redo() { return this.now + 1 < this.list.length ? this.list[++this.now].text : null; }

  get canUndo() { return this.now > 0; }
  get canRedo() { return this.now + 1 < this.list.length; }
}

/** The line on which a value ends, from 1. @param {string} text @param {{end: number}} place */
function lastLine(text, place) {
  const bytes = new TextEncoder().encode(text);
  let line = 1;
  for (let i = 0; i < place.end && i < bytes.length; i++) if (bytes[i] === 10) line++;
  return line;
}

/** Where the comment of a line begins, behind the value that ends on it; -1: there is none.
 * @param {string} text @param {{end: number}} place */
function comment(text, place) {
  const bytes = new TextEncoder().encode(text);
  let end = bytes.indexOf(10, place.end);
  if (end < 0) end = bytes.length;
  const rest = new TextDecoder().decode(bytes.slice(place.end, end)).replace(/\r$/, '');
  const found = /[ \t]#[ \t]?(.*)$/.exec(rest);
  return {rest, found, end};
}

/** The note behind a value: its comment on the line where it ends. @param {string} text @param {{end: number} | undefined} place */
export function noteOf(text, place) {
  return place ? comment(text, place).found?.[1]?.trim() ?? '' : '';
}

/** The text with another note behind a value; an empty note removes it. @param {string} text @param {{end: number}} place @param {string} note */
export function withNote(text, place, note) {
  const bytes = new TextEncoder().encode(text);
  const {rest, found, end} = comment(text, place);
  const clean = note.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  const kept = (found ? rest.slice(0, found.index) : rest).trimEnd();
  const decode = new TextDecoder('utf-8', {ignoreBOM: true});
  const line = kept + (clean ? `   # ${clean}` : '');
  const cr = end > 0 && bytes[end - 1] === 13 && end - 1 >= place.end ? '\r' : '';
  return decode.decode(bytes.slice(0, place.end)) + line + cr + decode.decode(bytes.slice(end));
}

/** @param {string} text @param {{end: number}} a @param {{end: number}} b */
export const onOneLine = (text, a, b) => lastLine(text, a) === lastLine(text, b);

/** A survey's name from that of a file. @param {string} file */
export function surveyName(file) {
  const base = file.replace(/^.*\//, '').replace(/\.[^.]*$/, '');
  return base.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '') || 'survey';
}

/** @param {string} text */
const quoted = text => /^[A-Za-z_][A-Za-z0-9_./-]*$/.test(text) && !/^(y|n|yes|no|true|false|on|off|null)$/i.test(text) ? text : JSON.stringify(text);

/** A value in one line. @param {any} v @returns {string} */
function flow(v) {
  if (Array.isArray(v)) return `[${v.map(flow).join(', ')}]`;
  if (v && typeof v === 'object') return `{${Object.entries(v).map(([k, x]) => `${quoted(k)}: ${flow(x)}`).join(', ')}}`;
  return typeof v === 'string' && !(DECIMAL.test(v) && /[./]/.test(v)) ? quoted(v) : String(v);
}

/** The lines of a section: a map one key per line, a list one item per line, and deeper maps likewise if they have maps in them.
 * @param {any} v @param {string} indent @returns {string} */
function block(v, indent) {
  const inner = x => x && typeof x === 'object' && !Array.isArray(x) && Object.values(x).some(y => y && typeof y === 'object' && !Array.isArray(y));
  if (Array.isArray(v)) return v.map(x => `\n${indent}- ${flow(x)}`).join('');
  return Object.entries(v).map(([k, x]) => `\n${indent}${quoted(k)}:${inner(x) ? block(x, indent + '  ') : ' ' + flow(x)}`).join('');
}

/** The text with a section, that was just written into one line, over several lines, as people write it; or the same text if it is in a
 * line with others. @param {string} text @param {{path: string, begin: number, end: number, key: {begin: number} | null} | undefined} place @param {any} value */
export function inLines(text, place, value) {
  if (!place?.key || !value || typeof value !== 'object' || !Object.keys(value).length) return text;
  const bytes = new TextEncoder().encode(text), decode = new TextDecoder('utf-8', {ignoreBOM: true});
  const before = decode.decode(bytes.slice(0, place.begin)), line = decode.decode(bytes.slice(0, place.key.begin)).split('\n').pop() ?? '';
  const rest = decode.decode(bytes.slice(place.end));
  if (!/^ *$/.test(line) || !/^[[{]/.test(decode.decode(bytes.slice(place.begin, place.end))) || !/^ *(#|\r?\n|$)/.test(rest)) return text;
  const behind = /** @type {RegExpExecArray} */ (/^[^\r\n]*/.exec(rest))[0];
  return before.trimEnd() + behind.trimEnd().replace(/^(?=#)/, ' ') + block(value, line + '  ') + rest.slice(behind.length);
}

const DECIMAL = /^-?\d+(\.\d+)?(e[-+]?\d+|\/\d+)?$/i;

/** The text with a number, that was sent as a text for the sake of its digits, without quotes.
 * @param {string} text @param {{begin: number, end: number, quoted: boolean} | undefined} place @param {any} value */
export function unquoted(text, place, value) {
  if (typeof value !== 'string' || !DECIMAL.test(value) || !place?.quoted) return text;
  const bytes = new TextEncoder().encode(text), decode = new TextDecoder('utf-8', {ignoreBOM: true});
  return decode.decode(bytes.slice(0, place.begin)) + value + decode.decode(bytes.slice(place.end));
}

/** The plan that a data file begins with: what the steps will ask is not in it yet. @param {string | null} file @param {string | null} [table] */
export function firstPlan(file, table = null) {
  const source = file ? `source: {file: ${quoted(file)}${table ? `, table: ${quoted(table)}` : ''}}` :
    'source: {file: FILL_IN}   # the file that the survey will have; a description alone needs none yet';
  return `# ${file ? 'Begun from the header of the data file; no row was read.' : 'Begun without data.'}
tamis: 1
survey: ${file ? quoted(surveyName(file)) : 'FILL_IN'}
${source}
design: FILL_IN
privacy:
  unit: FILL_IN
  epsilon: 1
columns: {}
statistics: []
`;
}
