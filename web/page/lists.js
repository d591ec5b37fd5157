/* Lists that people paste, and the list of columns: pure functions. */

import {columnsOf, readDesign} from './questions.js';

/** @typedef {{name: string, type?: string | null, label?: string | null, codes?: {code: string, label: string, missing?: boolean}[]}} HeaderColumn */

/** The fields of a line: tabs, else semicolons, else commas (with quotes). @param {string} line */
export function cells(line) {
  const separator = line.includes('\t') ? '\t' : line.includes(';') ? ';' : ',';
  const out = [];
  let cell = '', open = false;
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (open) {
      if (c === '"' && line[i + 1] === '"') cell += line[++i];
      else if (c === '"') open = false;
      else cell += c;
    } else if (c === '"' && cell.trim() === '') {
      open = true;
      cell = '';
    } else if (c === separator) {
      out.push(cell.trim());
      cell = '';
    } else cell += c;
  }
  out.push(cell.trim());
  return out;
}

const whole = text => {
  const t = text.replace(/[\s\u00a0\u202f,.'](?=\d{3}(\D|$))/g, '');
  return /^[1-9]\d{0,14}$/.test(t) ? Number(t) : null;
};

/**
 * Strata from a spreadsheet: name, then one size per key. A first line of words is a heading.
 * @param {string} text @param {string[]} keys @returns {{strata: [string, Record<string, number | string>][], problems: string[]}}
 */
export function strataOf(text, keys) {
  /** @type {Map<string, Record<string, number | string>>} */
  const strata = new Map();
  const problems = [];
  const lines = text.split(/\r?\n/).filter(l => l.trim() !== '');
  lines.forEach((line, i) => {
    // "north 900 30" and "north,900,30" too; a comma inside a number needs tabs between the fields
    let parts = cells(line);
    if (parts.length < 2) {
      const m = line.trim().split(/\s+/);
      parts = m.length > keys.length ? [m.slice(0, m.length - keys.length).join(' '), ...m.slice(m.length - keys.length)] : m;
    }
    const [name, ...sizes] = parts;
    const values = keys.map((k, j) => (k === 'rate' ? (/\d/.test(sizes[j] ?? '') ? sizes[j] : null) : whole(sizes[j] ?? '')));
    if (i === 0 && values.every(v => v === null)) return;
    if (!name) problems.push(`line ${i + 1}: no name`);
    else if (strata.has(name)) problems.push(`line ${i + 1}: ${name} was there before`);
    else if (values.some(v => v === null)) problems.push(`line ${i + 1}: ${name} needs ${keys.join(' and ')}`);
    else strata.set(name, Object.fromEntries(keys.map((k, j) => [k, /** @type {any} */ (values[j])])));
  });
  return {strata: [...strata], problems};
}

/** A code list: one code per line, with a label behind it if there is one. Between a code and its label is a tab, "=", ":", a comma or a
 * semicolon; or a blank, if all codes are numbers. @param {string} text @returns {{code: string, label: string}[]} */
export function codesOf(text) {
  let lines = text.split(/\r?\n/).map(l => l.trim()).filter(l => l !== '');
  if (lines.length === 1 && !/[\t=:]/.test(lines[0]) && /[,;]/.test(lines[0])) lines = lines[0].split(/[,;]/).map(l => l.trim()).filter(l => l !== '');
  const numbers = lines.every(l => /^-?\d+(\s|$)/.test(l));
  const out = [], seen = new Set();
  for (const line of lines) {
    const m = numbers ? /^(-?\d+)\s*[-=:.,;\t]?\s*(.*)$/.exec(line) : /^([^\t=:,;]+?)\s*[\t=:,;]\s*(.*)$/.exec(line);
    const code = (m ? m[1] : line).replace(/^"(.*)"$/, '$1').trim(), label = (m ? m[2] : '').replace(/^"(.*)"$/, '$1').trim();
    if (code && !seen.has(code)) out.push({code, label});
    seen.add(code);
  }
  return out;
}

/**
 * A codebook: CSV with the columns column, code, label, from, to, step, missing (in any order; some may be absent). A line with a code is a
 * value of its column, one without describes the column.
 * @param {string} text @returns {{columns: Map<string, any>, problems: string[]}}
 */
export function codebookOf(text) {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/).filter(l => l.trim() !== '');
  const head = cells(lines[0] ?? '').map(h => h.toLowerCase());
  const columns = new Map(), problems = [];
  if (!head.includes('column')) return {columns, problems: ['the first line needs the name "column"; the others are code, label, from, to, step, missing']};
  const yes = t => /^(1|x|y|yes|true|missing)$/i.test(t);
  for (const line of lines.slice(1)) {
    const row = cells(line);
    const get = name => (head.includes(name) ? row[head.indexOf(name)] ?? '' : '');
    const name = get('column');
    if (!name) continue;
    if (!columns.has(name)) columns.set(name, {});
    const c = columns.get(name);
    const code = get('code');
    if (code && yes(get('missing'))) (c.missing_codes ??= []).push(code);
    else if (code) {
      (c.values ??= []).push(code);
      (c.labels ??= []).push(get('label'));
    } else {
      if (get('label')) c.label = get('label');
      if (get('from') !== '') c.from = get('from');
      if (get('to') !== '') c.to = get('to');
      if (get('step') !== '') c.step = get('step');
      if (get('missing') !== '') c.missing_codes = get('missing').split(/[\s;|]+/).filter(t => t !== '');
    }
  }
  for (const [name, c] of columns) {
    if (c.values && c.from !== undefined) problems.push(`${name} has codes and a range: the codes are taken`);
    if (c.values) delete c.from, delete c.to, delete c.step;
    else if ((c.from === undefined) !== (c.to === undefined)) problems.push(`${name} needs both from and to`);
  }
  return {columns, problems};
}

/** @typedef {{name: string, label: string, kind: 'number' | 'category' | 'strata' | null, wanted: 'number' | 'category' | null, declared: any,
 *   uses: number[], used: boolean, fill: boolean, stratum: boolean, codes: {code: string, label: string}[], mentioned: string[], type: string | null}} Column */

/** All columns: those of the file in its order, then those that only the plan has.
 * @param {any} tree @param {HeaderColumn[]} header @param {Set<string>} wrong names of columns with errors @returns {Column[]} */
export function columnList(tree, header, wrong) {
  /** @type {Map<string, Column>} */
  const all = new Map();
  const design = readDesign(tree?.design);
  const strata = design?.strata ? tree.design.stratified.by : null;
  const add = (name, of = {}) => {
    if (!all.has(name)) all.set(name, {name, label: '', kind: null, wanted: null, declared: undefined, uses: [], used: false, fill: false,
      stratum: false, codes: [], mentioned: [], type: null, ...of});
    return /** @type {Column} */ (all.get(name));
  };
  for (const c of header) add(c.name, {label: c.label ?? '', codes: (c.codes ?? []).filter(x => !x.missing), type: c.type ?? null});
  const columns = tree?.columns && typeof tree.columns === 'object' ? tree.columns : {};
  for (const [name, of] of Object.entries(columns)) {
    const c = add(name);
    c.declared = of;
    if (of && typeof of === 'object') {
      if (of.label) c.label = String(of.label);
      c.kind = 'values' in of ? 'category' : 'strata' in of ? 'strata' : 'from' in of || 'to' in of || 'step' in of ? 'number' : null;
    }
  }
  const statistics = Array.isArray(tree?.statistics) ? tree.statistics : [];
  statistics.forEach((s, i) => {
    for (const u of columnsOf(s)) {
      const c = add(u.name);
      if (!c.uses.includes(i)) c.uses.push(i);
      // a value of a category and a group decide; a mean of a column that is grouped by elsewhere is an error that the library explains
      c.wanted = c.wanted === 'category' ? 'category' : u.kind;
      for (const v of u.values) if (!c.mentioned.includes(v)) c.mentioned.push(v);
    }
  });
  if (typeof strata === 'string' && strata && strata !== 'FILL_IN') add(strata).stratum = true;
  for (const c of all.values()) {
    c.used = c.uses.length > 0 || c.declared !== undefined || c.stratum;
    const d = c.declared;
    const given = d && typeof d === 'object' && (c.kind === 'number' ? d.from !== undefined && d.to !== undefined && d.step !== undefined : c.kind !== null);
    c.fill = wrong.has(c.name) || (c.uses.length > 0 && !given && !c.stratum);
  }
  return [...all.values()];
}

/** @param {Column[]} columns @param {'fill' | 'used' | 'all'} filter @param {string} search */
export function shown(columns, filter, search) {
  const words = search.toLowerCase().split(/\s+/).filter(w => w);
  return columns.filter(c => (filter === 'all' || (filter === 'used' ? c.used : c.fill)) &&
    words.every(w => c.name.toLowerCase().includes(w) || c.label.toLowerCase().includes(w)));
}

/** What has to be declared for a statistic: columns that the plan does not have yet.
 * @param {any} tree @param {any} statistic @param {HeaderColumn[]} header @returns {{path: string, value: any}[]} */
export function declarations(tree, statistic, header) {
  const out = new Map();
  const design = readDesign(tree?.design);
  const strata = design?.strata ? tree.design.stratified.by : null;
  for (const u of columnsOf(statistic)) {
    if (u.name === strata || Object.hasOwn(tree?.columns ?? {}, u.name)) continue;
    const known = header.find(h => h.name === u.name);
    const label = known?.label ? {label: known.label} : {};
    const codes = (known?.codes ?? []).filter(c => !c.missing).map(c => c.code);
    out.set(u.name, u.kind === 'number' ? {step: 1, ...label} : codes.length ? {values: codes, ...label} : label);
  }
  return [...out].map(([name, value]) => ({path: '/columns/' + name.replace(/~/g, '~0').replace(/\//g, '~1'), value}));
}

/** What several columns are set to at once. @param {string[]} names @param {Record<string, any>} values @param {any} tree */
export function setForAll(names, values, tree) {
  const changes = [];
  for (const name of names) {
    const path = '/columns/' + name.replace(/~/g, '~0').replace(/\//g, '~1');
    const old = tree?.columns?.[name];
    const map = old && typeof old === 'object' ? {...old} : {};
    if ('values' in values) for (const k of ['from', 'to', 'step']) delete map[k];
    if ('from' in values) delete map.values;
    const next = {...map, ...values};
    if (JSON.stringify(next) !== JSON.stringify(old)) changes.push({path, value: next});
  }
  return changes;
}
