/* The plan as text, with its errors, and what it says in words. */

import {button, el, id, put, rows} from './dom.js';
import {short} from './form.js';

/** @param {import('./state.js').App} app */
export function build(app) {
  const area = el('textarea', {id: id(), class: 'text', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off', 'aria-label': 'The plan as text'});
  const numbers = el('div', {class: 'numbers', 'aria-hidden': 'true'});
  const marks = el('div', {class: 'marks', 'aria-hidden': 'true'});
  const editor = el('div', {class: 'editor'}, numbers, el('div', {class: 'pane'}, marks, area));
  area.addEventListener('input', () => app.type(area.value));
  area.addEventListener('scroll', () => {
    numbers.scrollTop = area.scrollTop;
    marks.scrollTop = area.scrollTop;
  });
  area.addEventListener('keydown', e => {
    /* Tab leaves the field, so that the page works by keyboard alone; two blanks are typed as such. */
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'z') {
      e.preventDefault();
      app.back(e.shiftKey ? 'redo' : 'undo');
    }
  });
  const conflict = el('div', {class: 'note warn', hidden: true});
  const errors = el('ul', {class: 'plain'}), errorBox = el('section', {class: 'note bad', 'aria-live': 'polite'}, el('h2', {}), errors);
  const words = el('p'), wordsBox = el('section', {class: 'part'}, el('h2', {}, 'The same in words'), words);
  const name = el('input', {id: id(), size: 24, autocomplete: 'off'});
  const save = button('Save', () => app.save(), {class: 'main'});
  const undo = button('Undo', () => app.back('undo')), redo = button('Redo', () => app.back('redo'));
  const as = el('form', {class: 'line', hidden: true}, el('label', {for: name.id}, 'Save as'), name, el('button', {class: 'button small'}, 'Save'));
  as.addEventListener('submit', async e => {
    e.preventDefault();
    const file = name.value.trim();
    if (/\.ya?ml$/.test(file) && await app.save({file})) as.hidden = true;
    else if (!/\.ya?ml$/.test(file)) app.say('A plan’s name ends in .yaml.');
  });
  const saveAs = button('Save as …', () => {
    as.hidden = false;
    name.value = app.file;
    name.focus();
  });
  const shell = el('pre', {class: 'shell', tabindex: 0, 'aria-label': 'Commands for a terminal'});
  const warnings = el('section', {class: 'part'});
  const root = el('div', {class: 'screen'}, el('h1', {}, 'The plan'),
    el('p', {class: 'lead'}, 'The same plan as text. Change it here or in the steps; comments and order stay.'), conflict,
    el('div', {class: 'columns even'}, editor,
      el('div', {}, errorBox, wordsBox, el('div', {class: 'line'}, save, saveAs, undo, redo), as, warnings,
        el('section', {class: 'part'}, el('h2', {}, 'For the terminal'), shell))));

  /** @param {number} line @param {number} column */
  function jump(line, column) {
    const lines = area.value.split('\n');
    const start = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0) + column - 1;
    area.focus();
    area.setSelectionRange(start, start + Math.max(0, (lines[line - 1] ?? '').length - column + 1));
    area.scrollTop = Math.max(0, (line - 6) * 20);
  }

  let shown = -1, marked = '';
  function update() {
    if (area.value !== app.text) {
      const {selectionStart, scrollTop} = area;
      area.value = app.text;
      if (document.activeElement === area) area.setSelectionRange(selectionStart, selectionStart);
      area.scrollTop = scrollTop;
    }
    const count = app.text.split('\n').length;
    if (count !== shown) {
      shown = count;
      put(numbers, Array.from({length: count}, (_, i) => el('div', {}, String(i + 1))));
    }
    const wrong = (app.draft?.errors ?? []).map(e => e.line).filter(Boolean);
    const key = wrong.join() + ':' + count;
    if (key !== marked) {
      marked = key;
      put(marks, Array.from({length: count}, (_, i) => el('div', {class: wrong.includes(i + 1) ? 'wrong' : null})));
    }
    const list = app.draft?.errors ?? [];
    errorBox.hidden = !list.length;
    put(errorBox.querySelector('h2'), app.readable ? (list.length === 1 ? 'One thing is missing or wrong' : 'Things are missing or wrong') : 'This is not YAML: the steps show the last text that was');
    rows(errors, list, (e, i) => `${i}:${e.line}:${e.message}`, e => el('li', {},
      e.line ? button(`line ${e.line}, column ${e.column}`, () => jump(e.line, e.column), {class: 'link'}) : null, ' ',
      e.key ? el('code', {}, e.key) : null, ' ', short(e)));
    const p = app.preview;
    wordsBox.hidden = !(p && app.draft?.ok);
    if (p && app.draft?.ok) {
      const promises = p.shown;
      put(words, upperDesign(p), '. ', `Publishes ${p.shown?.numbers ? p.shown.numbers + ' numbers' : p.statistics.map(s => s.words).join('; ')}. `,
        promises?.sample ? `A sampled ${app.tree?.privacy?.unit ?? 'unit'} loses at most ${promises.sample}` : `Spends ${p.shown?.would_spend}`,
        promises?.outsider ? `; an outsider ${promises.outsider}.` : '.');
    }
    const list2 = p && app.draft?.ok ? p.warnings ?? [] : [];
    warnings.hidden = !list2.length;
    put(warnings, list2.length ? [el('h2', {}, 'Warnings'), el('ul', {}, list2.map(w => el('li', {}, w)))] : '');
    save.disabled = !app.unsaved || app.about?.read_only;
    undo.disabled = !app.history?.canUndo;
    redo.disabled = !app.history?.canRedo;
    saveAs.disabled = Boolean(app.about?.read_only) || !app.open;
    area.disabled = !app.open;
    put(shell, `tamis check ${app.file}\ntamis release ${app.file}`);
    conflict.hidden = !app.conflict;
    if (app.conflict && conflict.dataset.hash !== String(app.conflict.hash)) {
      conflict.dataset.hash = String(app.conflict.hash);
      put(conflict, el('p', {}, el('strong', {}, `${app.file} was changed by another program. `)), el('div', {class: 'line'},
        button('Reload', () => app.load(app.file), {class: 'small', disabled: app.conflict.text === null}),
        button('Keep mine', () => app.save({over: app.conflict?.hash ?? null}), {class: 'small'}),
        button('Show both', () => { both.hidden = !both.hidden; }, {class: 'small'})));
      const both = el('pre', {class: 'shell', hidden: true, tabindex: 0, 'aria-label': 'What is in the file'}, app.conflict.text ?? 'The file was deleted.');
      conflict.append(both);
    } else if (!app.conflict) delete conflict.dataset.hash;
  }

  return {root, update};
}

/** @param {any} p */
function upperDesign(p) {
  const text = p.shown?.design ?? '';
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
