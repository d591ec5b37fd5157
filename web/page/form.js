/* Fields that show and change one value of the plan. */

import {el, id, options, put} from './dom.js';
import {at, isMissing, number} from './text.js';

/** @typedef {{path: string | (() => string), label: any, kind?: 'number' | 'text' | 'select' | 'check' | 'column' | 'file', options?: () => {value: string, label: string}[],
 *   help?: string, size?: number, none?: string, write?: (text: string) => any, read?: (value: any) => string, list?: () => string[],
 *   default?: string, hidden?: boolean, need?: boolean, after?: () => void, placeholder?: string}} FieldOf */

export class Form {
  /** @param {import('./state.js').App} app */
  constructor(app) {
    this.app = app;
    /** @type {(() => void)[]} */ this.updates = [];
  }

  update() { for (const f of this.updates) f(); }

  /** A field of a value of the plan, with its label, help and error. @param {FieldOf} of @returns {any} */
  field(of) {
    const {app} = this, kind = of.kind ?? 'text', me = id(), error = id(), help = of.help ? id() : null;
    const path = () => (typeof of.path === 'function' ? of.path() : of.path);
    const input = kind === 'select' || kind === 'column' ? el('select', {id: me}) :
      el('input', {id: me, type: kind === 'check' ? 'checkbox' : 'text', size: of.size ?? (kind === 'number' ? 9 : 22), autocomplete: 'off',
        spellcheck: 'false', inputmode: kind === 'number' ? 'decimal' : null, placeholder: of.placeholder});
    const choices = of.list ? el('datalist', {id: id()}) : null;
    if (choices) input.setAttribute('list', choices.id);
    const write = text => (of.write ? of.write(text) : kind === 'number' ? number(text) : text.trim() === '' ? null : text);
    const change = () => {
      const p = path();
      let value = kind === 'check' ? (input.checked ? true : null) : write(input.value);
      if (of.default !== undefined && String(value) === of.default && at(app.history?.list[0] && JSON.parse(app.history.list[0].tree), p) === undefined) value = null;
      app.edit([{path: p, value}], p);
      of.after?.();
    };
    input.addEventListener(kind === 'text' || kind === 'number' || kind === 'file' ? 'input' : 'change', change);
    const wrong = el('span', {class: 'error', id: error});
    const node = kind === 'check' ? el('div', {class: 'field check'}, el('label', {for: me}, input, el('span', {}, of.label)),
      help && el('p', {class: 'help', id: help}, of.help), wrong) :
      el('div', {class: 'field'}, el('label', {for: me, class: of.hidden ? 'hidden' : null}, of.label), input, choices,
        help && el('span', {class: 'help', id: help}, of.help), wrong);
    this.updates.push(() => {
      const value = at(app.tree, path());
      const plain = value === undefined || value === null || typeof value === 'object' ? '' : String(value);
      const text = of.read ? of.read(value) : plain === 'FILL_IN' ? '' : plain;
      if (kind === 'select' || kind === 'column') {
        const list = kind === 'column' ? columnOptions(app, text, of.none ?? 'choose a column') : of.options?.() ?? [];
        options(input, list);
        if (document.activeElement !== input || input.value !== text) input.value = text || of.default || '';
      } else if (kind === 'check') input.checked = /^(yes|true)$/i.test(text);
      else if (document.activeElement !== input) input.value = text;
      if (choices) {
        const list = of.list?.() ?? [];
        options(choices, list.map(v => ({value: v, label: v})));
      }
      const errors = app.readable ? app.errorsAt(path()) : [];
      /* a range by stratum, for instance: it is changed in the text of the plan */
      const nested = value !== null && typeof value === 'object' && !of.read;
      if (kind === 'text' || kind === 'number') input.placeholder = nested ? 'see the plan' : of.placeholder ?? '';
      const empty = of.need && app.open && text === '' && !nested && !errors.some(e => !isMissing(e));
      put(wrong, empty ? 'to fill in' : errors.map(e => short(e)).join(' '));
      input.setAttribute('aria-invalid', errors.length ? 'true' : 'false');
      const by = [help, errors.length ? error : null].filter(Boolean).join(' ');
      if (by) input.setAttribute('aria-describedby', by);
      else input.removeAttribute('aria-describedby');
      input.disabled = !app.readable || nested;
    });
    return node;
  }
}

/** The columns of the source, and of the plan, for a select. @param {import('./state.js').App} app @param {string} value @param {string} none */
export function columnOptions(app, value, none) {
  if (value) app.mentioned.add(value); /* a plan may be written before its data are there */
  const names = [...new Set([...app.header.map(c => c.name), ...Object.keys(app.tree?.columns ?? {}), ...app.mentioned])];
  return [{value: '', label: none}, ...names.map(n => {
    const label = app.header.find(c => c.name === n)?.label;
    return {value: n, label: label && label !== n ? `${n} · ${label}` : n};
  })];
}

/** An error without its key, which the field says already. @param {{message: string, key: string | null}} e */
export function short(e) {
  const key = e.key ? e.key + ': ' : '';
  return e.message.startsWith(key) ? e.message.slice(key.length) : e.message;
}
