/* The state of the page: a plan's text, what the library read in it, and what it foresees. Forms change the text by the route `set`;
 * everything else follows from the text. */

import {call, Refusal} from './api.js';
import {at, History, inLines, parts, placeOfError, stepOf, unquoted} from './text.js';

const KEPT = 'tamis-plan';
const LANE = 'tab-' + Math.random().toString(36).slice(2, 10);
const TRAILING = 60, REST = 400;
const SECTIONS = ['/design', '/design/stratified/strata', '/columns', '/statistics'];

/** @typedef {{path: string, value: any}} Change */

export class App {
  constructor() {
    /** @type {any} */ this.about = null;
    this.file = 'plan.yaml';
    this.text = '';
    /** @type {string | null} */ this.hash = null;
    /** @type {string | null} */ this.savedText = null;
    this.savedAt = '';
    /** @type {any} */ this.draft = null;
    /** @type {any} */ this.tree = {};
    this.readable = true;
    /** @type {any[]} */ this.header = [];
    /** @type {string | null} */ this.headerOf = null;
    /** @type {any} */ this.preview = null;
    /** @type {Refusal | null} */ this.previewError = null;
    this.previewText = '';
    this.waiting = false;
    /** @type {{hash: string | null, text: string | null} | null} */ this.conflict = null;
    /** @type {any} */ this.job = null;
    this.message = '';
    /** @type {Set<string>} columns that the plan has named outside its list */ this.mentioned = new Set();
    /** @type {string | null} a column to show, for the screen of the columns */ this.wanted = null;
    /** @type {History | null} */ this.history = null;
    /** @type {(() => void)[]} */ this.listeners = [];
    /** @type {{changes: Change[] | ((tree: any) => Change[]), place: string | null, done: ((ok: boolean) => void)[]}[]} */ this.queue = [];
    /** @type {Map<string, any>} */ this.known = new Map();
    this.asked = 0;
    this.timers = {send: 0, rest: 0, busy: 0, draft: 0};
    this.reading = Promise.resolve();
  }

  get open() { return this.history !== null; }
  get unsaved() { return this.open && this.text !== this.savedText; }
  get folder() { return this.file.includes('/') ? this.file.replace(/\/[^/]*$/, '/') : ''; }

  /** @param {() => void} f */
  on(f) { this.listeners.push(f); }

  emit() { for (const f of this.listeners) f(); }

  /** Something to say once, for eyes and screen readers. @param {string} text */
  say(text) {
    this.message = text;
    this.emit();
  }

  /** @param {unknown} error */
  fail(error) {
    if (error instanceof Refusal && error.overtaken) return;
    this.say(error instanceof Error ? error.message : String(error));
  }

  /* ---- opening and saving ---- */

  /** @param {string} file @param {string} text @param {string | null} hash */
  async begin(file, text, hash) {
    this.file = file;
    this.hash = hash;
    this.savedText = hash === null ? null : text;
    this.savedAt = '';
    this.conflict = null;
    this.preview = null;
    this.previewError = null;
    this.header = [];
    this.headerOf = null;
    this.mentioned.clear();
    this.history = null;
    await this.take(text, null, false);
    this.history = new History(this.text, this.tree);
    this.keep();
    this.emit();
  }

  /** @param {string} file */
  async load(file) {
    const {text, hash} = await call('read', {file});
    await this.begin(file, text, hash);
  }

  /** What this tab had before it was loaded again. */
  async restore() {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? 'null');
    if (!kept) return false;
    await this.begin(kept.file, kept.text, kept.hash);
    this.savedText = kept.saved;
    this.emit();
    return true;
  }

  keep() {
    sessionStorage.setItem(KEPT, JSON.stringify({file: this.file, text: this.text, hash: this.hash, saved: this.savedText}));
  }

  /** @param {{file?: string, over?: string | null}} [how] over: the hash of what is replaced although it changed @returns {Promise<boolean>} */
  async save(how = {}) {
    await this.settle();
    const file = how.file ?? this.file, text = this.text;
    try {
      const {hash} = await call('save', {file, text, hash: 'over' in how ? how.over : how.file && how.file !== this.file ? null : this.hash});
      this.file = file;
      this.hash = hash;
      this.savedText = text;
      this.savedAt = new Date().toLocaleTimeString([], {hour: '2-digit', minute: '2-digit'});
      this.conflict = null;
      this.keep();
      this.say(`Saved as ${file}.`);
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'changed') {
        this.conflict = {hash: error.body.hash, text: error.body.text};
        this.say(`${file} was changed by another program: choose what to keep.`);
        location.hash = '#plan';
      } else this.fail(error);
      return false;
    }
  }

  /** Whether another program changed the file. */
  async look() {
    if (!this.open || this.hash === null || this.conflict) return;
    try {
      const {text, hash} = await call('read', {file: this.file});
      if (hash !== this.hash) {
        this.conflict = {hash, text};
        this.emit();
      }
    } catch { /* said when it is saved */ }
  }

  /* ---- the text ---- */

  /** Waits for all changes that are under way. */
  async settle() {
    while (this.queue.length) await new Promise(done => this.queue[this.queue.length - 1].done.push(done));
    await this.reading;
  }

  /** Takes a text as the plan. @param {string} text @param {any} draft of it, or null @param {boolean} form @param {string | null} [place] */
  async take(text, draft, form, place = null) {
    this.text = text;
    const read = draft ?? await call('draft', {file: this.file, text});
    if (this.text !== text) return;
    this.draft = read;
    this.readable = !read.errors.some(e => /not valid YAML/.test(e.message));
    if (this.readable) this.tree = read.tree ?? {};
    if (this.history) this.history.add(text, read.tree, place, form);
    if (this.open) this.keep();
    this.followSource();
    this.foresee();
    this.emit();
  }

  /** Changes values of the plan in its text. Changes at one place that wait for their turn are joined.
   * @param {Change[] | ((tree: any) => Change[])} changes @param {string | null} [place] @returns {Promise<boolean>} */
  edit(changes, place = null) {
    return new Promise(done => {
      const last = this.queue[this.queue.length - 1];
      if (place !== null && last?.place === place && this.queue.length > 1) {
        last.changes = changes;
        last.done.push(done);
        return;
      }
      this.queue.push({changes, place, done: [done]});
      if (this.queue.length === 1) this.work();
    });
  }

  async work() {
    while (this.queue.length) {
      const {changes, place, done} = this.queue[0];
      let ok = true;
      try {
        const list = (typeof changes === 'function' ? changes(this.tree) : changes)
          .filter(c => c.value !== null || at(this.tree, c.path) !== undefined)
          .filter(c => !same(at(this.tree, c.path), c.value));
        if (list.length) {
          let {text, draft} = await call('set', {file: this.file, text: this.text, changes: list});
          for (const path of SECTIONS) {
            /* What was empty before, or is set as a whole, gets lines of its own; the tree must stay what it is. */
            const old = at(this.tree, path), value = list.find(c => c.path === path)?.value;
            if (!value && !(list.some(c => c.path.startsWith(path + '/')) && (old === undefined || !Object.keys(old).length))) continue;
            const lines = inLines(text, draft.places.find(p => p.path === path), value ?? plain(at(draft.tree, path), list, path));
            if (lines === text) continue;
            const read = await call('draft', {file: this.file, text: lines});
            if (JSON.stringify(read.tree) === JSON.stringify(draft.tree)) [text, draft] = [lines, read];
          }
          for (const {path, value} of list) {
            const bare = unquoted(text, draft.places.find(p => p.path === path), value);
            if (bare === text) continue;
            const read = await call('draft', {file: this.file, text: bare});
            if (JSON.stringify(read.tree) === JSON.stringify(draft.tree)) [text, draft] = [bare, read];
          }
          const before = this.history?.same(draft.tree);
          if (before !== null && before !== undefined && before !== text) await this.take(before, null, true, place);
          else await this.take(text, draft, true, place);
        }
      } catch (error) {
        ok = false;
        this.fail(error);
      }
      this.queue.shift();
      for (const f of done) f(ok);
    }
  }

  /** What somebody typed as text. @param {string} text */
  type(text) {
    this.text = text;
    clearTimeout(this.timers.draft);
    this.reading = new Promise(done => {
      this.timers.draft = window.setTimeout(() => this.take(text, null, false, 'text').catch(e => this.fail(e)).finally(() => done(undefined)), TRAILING);
    });
    this.emit();
  }

  /** @param {'undo' | 'redo'} which */
  async back(which) {
    await this.settle();
    const text = which === 'undo' ? this.history?.undo() : this.history?.redo();
    if (text === null || text === undefined) return;
    const history = this.history;
    this.history = null;
    try {
      await this.take(text, null, true);
    } finally {
      this.history = history;
      this.keep();
      this.emit();
    }
  }

  /** The columns of the source: names and labels of its header. */
  followSource() {
    const source = this.tree?.source;
    const file = typeof source?.file === 'string' ? source.file : null;
    const pg = source?.postgres;
    const ask = file && file !== 'FILL_IN' ? {file: file.startsWith('/') ? file : this.folder + file, ...(source.table ? {table: source.table} : {})} :
      pg?.connection && pg?.table ? {connection: pg.connection, table: pg.table} : null;
    const key = JSON.stringify(ask);
    if (key === this.headerOf) return;
    this.headerOf = key;
    this.header = [];
    if (!ask) return;
    call('header', ask).then(({columns}) => {
      if (this.headerOf !== key) return;
      this.header = columns;
      this.emit();
    }, () => { /* a plan may be written before its data are there */ });
  }

  /** Errors at a place of the plan, or under it. @param {string} path @param {boolean} [under] */
  errorsAt(path, under = false) {
    return (this.draft?.errors ?? []).filter(e => {
      const p = placeOfError(e, this.draft.tree);
      return p === path || (under && p.startsWith(path + '/'));
    });
  }

  /** Errors of a step. @param {string} step */
  errorsOf(step) {
    return (this.draft?.errors ?? []).filter(e => stepOf(placeOfError(e, this.draft.tree)) === step);
  }

  /* ---- what to expect: the latest text wins ---- */

  foresee() {
    clearTimeout(this.timers.rest);
    clearTimeout(this.timers.send);
    if (!this.draft?.ok) return;
    const had = this.known.get(this.text);
    if (had) {
      this.preview = had;
      this.previewText = this.text;
      this.previewError = null;
      if (had.advised) return;
    } else if (this.asked === 0) this.ask(true);
    else this.timers.send = window.setTimeout(() => this.ask(true), TRAILING);
    this.timers.rest = window.setTimeout(() => this.ask(false), REST);
  }

  /** @param {boolean} quick without advice */
  async ask(quick) {
    const text = this.text;
    this.asked++;
    clearTimeout(this.timers.busy);
    this.timers.busy = window.setTimeout(() => {
      this.waiting = true;
      this.emit();
    }, 150);
    try {
      const preview = await call('preview', {file: this.file, text, lane: LANE, advice: !quick});
      preview.advised = !quick;
      this.remember(text, preview);
      if (this.text === text) {
        this.preview = preview;
        this.previewText = text;
        this.previewError = null;
      }
    } catch (error) {
      if (!(error instanceof Refusal) || (!error.overtaken && this.text === text)) {
        this.previewError = error instanceof Refusal ? error : null;
        if (!(error instanceof Refusal)) throw error;
      }
    } finally {
      if (--this.asked === 0) {
        clearTimeout(this.timers.busy);
        this.waiting = false;
      }
      this.emit();
    }
  }

  /** @param {string} text @param {any} preview */
  remember(text, preview) {
    this.known.delete(text);
    this.known.set(text, preview);
    if (this.known.size > 40) this.known.delete(String(this.known.keys().next().value));
  }

  /** A preview of this plan with changes, and the text of it; not in the lane, so that nothing overtakes it.
   * @param {Change[]} changes @param {boolean} [advice] */
  async variant(changes, advice = false) {
    const {text, draft} = await call('set', {file: this.file, text: this.text, changes: changes.filter(c => c.value !== null || at(this.tree, c.path) !== undefined)});
    if (!draft.ok) throw new Refusal(422, draft.errors[0]);
    let preview = this.known.get(text);
    if (!preview) {
      preview = await call('preview', {file: this.file, text, advice});
      preview.advised = advice;
      this.remember(text, preview);
    }
    return {text, preview, tree: draft.tree};
  }
}

/** The value of a section that was empty, from what was set in it. @param {any} tree @param {Change[]} list @param {string} path */
function plain(tree, list, path) {
  if (Array.isArray(tree)) return list.filter(c => c.path === path + '/-').map(c => c.value);
  return Object.fromEntries(list.filter(c => c.path.startsWith(path + '/') && parts(c.path).length === parts(path).length + 1).map(c => [String(parts(c.path).pop()), c.value]));
}

/** Whether a value of the tree, in which everything is text, is what would be set. @param {any} old @param {any} value */
export function same(old, value) {
  if (old === undefined || value === null) return old === undefined && value === null;
  if (typeof value === 'object') {
    if (old === null || typeof old !== 'object' || Array.isArray(value) !== Array.isArray(old)) return false;
    const a = Object.keys(old), b = Object.keys(value);
    return a.length === b.length && a.every((k, i) => k === b[i] && same(old[k], value[k]));
  }
  if (typeof old === 'object') return false;
  return String(old) === String(value);
}
