/* From answers to the keys of a plan and back: the design, the setting, a statistic. Pure functions, tested with the library itself:
 * every combination reads as a plan, or the library says why not. */

/** @typedef {{key: string, label: string, kind: 'whole' | 'number' | 'column' | 'file' | 'choice' | 'take', need?: boolean, help?: string,
 *   options?: {value: string, label: string}[]}} Field */

const POPULATION = 'How many could have been drawn';
const METHODS = ['conditional_poisson', 'sampford', 'pivotal', 'pivotal_random', 'systematic', 'systematic_random', 'brewer', 'tille'];

/** What each design asks. @type {Record<string, Field[]>} */
export const FIELDS = {
  srs: [
    {key: 'population', label: POPULATION, kind: 'whole', need: true},
    {key: 'sample', label: 'How many were drawn', kind: 'whole', need: true},
  ],
  srs_with_replacement: [
    {key: 'population', label: POPULATION, kind: 'whole', need: true},
    {key: 'sample', label: 'How many draws', kind: 'whole', need: true},
  ],
  bernoulli: [
    {key: 'rate', label: 'Chance of each', kind: 'number', need: true, help: 'such as 0.05 or 1/20'},
    {key: 'population', label: POPULATION + ', if that is public', kind: 'whole'},
  ],
  poisson: [
    {key: 'probability', label: 'Column with the chance of each', kind: 'column', need: true},
    {key: 'frame', label: 'File with everybody who could have been drawn, if it is public', kind: 'file'},
    {key: 'population', label: POPULATION + ', if that is public', kind: 'whole'},
  ],
  pps: [
    {key: 'method', label: 'Method', kind: 'choice', need: true, options: METHODS.map(m => ({value: m, label: m.replace(/_/g, ' ')}))},
    {key: 'probability', label: 'Column with the chance of each', kind: 'column', need: true},
    {key: 'sample', label: 'How many were drawn', kind: 'whole', need: true},
    {key: 'frame', label: 'File with everybody who could have been drawn, if it is public', kind: 'file'},
    {key: 'population', label: POPULATION + ', if that is public', kind: 'whole'},
  ],
  systematic: [
    {key: 'population', label: POPULATION, kind: 'whole', need: true},
    {key: 'sample', label: 'How many were drawn', kind: 'whole', need: true},
    {key: 'order', label: 'The list was in', kind: 'choice', need: true,
      options: [{value: 'public', label: 'an order that is public'}, {value: 'random', label: 'random order'}]},
  ],
  cluster: [
    {key: 'by', label: 'Column with the group', kind: 'column', need: true},
    {key: 'population', label: 'How many groups there are', kind: 'whole', need: true},
    {key: 'sample', label: 'How many groups were drawn', kind: 'whole', need: true},
    {key: 'smallest', label: 'Size of the smallest group', kind: 'whole', need: true},
    {key: 'largest', label: 'Size of the largest group', kind: 'whole', need: true},
  ],
  two_stage: [
    {key: 'first/by', label: 'Column with the group', kind: 'column', need: true},
    {key: 'first/population', label: 'How many groups there are', kind: 'whole', need: true},
    {key: 'first/sample', label: 'How many groups were drawn', kind: 'whole', need: true},
    {key: 'second/population', label: 'Column with the size of the group', kind: 'column', need: true},
    {key: 'second/sample', label: 'Drawn in each group', kind: 'take', need: true, help: 'a number, or the name of a column'},
  ],
  census: [{key: 'population', label: 'How many there are', kind: 'whole', need: true}],
  weights: [
    {key: 'strata', label: 'Column with the stratum, if there is one', kind: 'column'},
    {key: 'cluster', label: 'Column with the primary sampling unit, if there is one', kind: 'column'},
    {key: 'psus', label: 'File with all sampled primary sampling units', kind: 'file'},
    {key: 'deff', label: 'Design effect, instead of these columns', kind: 'number'},
    {key: 'population', label: 'Size of the population, if it is public', kind: 'whole'},
  ],
};

const BOTH = [{key: 'population', label: 'Population'}, {key: 'sample', label: 'Sample'}];

/** Keys of a stratum, for the designs that have sizes in each. @type {Record<string, {key: string, label: string}[]>} */
export const IN_STRATA = {
  srs: BOTH, srs_with_replacement: BOTH, systematic: BOTH, cluster: BOTH, two_stage: BOTH,
  bernoulli: [{key: 'rate', label: 'Chance of each'}, {key: 'population', label: 'Population'}],
  poisson: [{key: 'population', label: 'Population'}],
  pps: [{key: 'sample', label: 'Sample'}, {key: 'population', label: 'Population'}],
  census: [{key: 'population', label: 'Population'}],
};

export const KINDS = Object.keys(FIELDS);

/** @typedef {{drawn: string, chances: string, more: string, strata: boolean}} DesignAnswers
 *   drawn: units, groups, stages, all, weights; chances: equal, size, itself, kth;
 *   more: of equal: sizes or again (with replacement), of itself: same or own */

/** The design's kind. @param {DesignAnswers} a */
export function kindOf(a) {
  if (a.drawn === 'groups') return 'cluster';
  if (a.drawn === 'stages') return 'two_stage';
  if (a.drawn === 'all') return 'census';
  if (a.drawn === 'weights') return 'weights';
  if (a.chances === 'size') return 'pps';
  if (a.chances === 'kth') return 'systematic';
  if (a.chances === 'itself') return a.more === 'own' ? 'poisson' : 'bernoulli';
  return a.more === 'again' ? 'srs_with_replacement' : 'srs';
}

/** @param {string} kind @param {boolean} strata @returns {DesignAnswers} */
export function answersOf(kind, strata) {
  const answer = (drawn, chances = 'equal', more = 'sizes') => ({drawn, chances, more, strata});
  switch (kind) {
  case 'cluster': return answer('groups');
  case 'two_stage': return answer('stages');
  case 'census': return answer('all');
  case 'weights': return {...answer('weights'), strata: false};
  case 'pps': return answer('units', 'size');
  case 'systematic': return answer('units', 'kth');
  case 'bernoulli': return answer('units', 'itself', 'same');
  case 'poisson': return answer('units', 'itself', 'own');
  case 'srs_with_replacement': return answer('units', 'equal', 'again');
  default: return answer('units');
  }
}

/** What a design in a tree is: its kind, whether in strata, where its fields and its strata are.
 * @param {any} design @returns {{kind: string, strata: boolean, at: string, within: any} | null} */
export function readDesign(design) {
  if (!design || typeof design !== 'object') return null;
  if (design.stratified) {
    const within = design.stratified.within;
    const kind = typeof within === 'string' ? within : Object.keys(within ?? {}).find(k => FIELDS[k]) ?? 'srs';
    return FIELDS[kind] ? {kind, strata: true, at: `/design/stratified/within/${kind}`, within} : null;
  }
  const kind = KINDS.find(k => k in design);
  return kind ? {kind, strata: false, at: `/design/${kind}`, within: null} : null;
}

const inner = (field, values) => {
  const out = {};
  for (const {key} of FIELDS[field]) {
    const value = values[key];
    if (value === undefined || value === null || value === '') continue;
    const [first, second] = key.split('/');
    if (second) (out[first] ??= {})[second] = value;
    else out[first] = value;
  }
  return out;
};

/** All values of the fields of a design, flat, so that another kind can take over what it has in common. @param {any} design */
function valuesOf(design) {
  const read = readDesign(design);
  if (!read) return {};
  const map = read.strata ? (typeof read.within === 'string' ? {} : read.within?.[read.kind]) : design[read.kind];
  /** @type {Record<string, any>} */
  const out = {};
  for (const {key} of FIELDS[read.kind]) {
    const [first, second] = key.split('/');
    const value = second ? map?.[first]?.[second] : map?.[first];
    if (value !== undefined && typeof value !== 'object') out[key] = value;
  }
  for (const key of ['by', 'population', 'sample']) {
    if (out[`first/${key}`] !== undefined) out[key] ??= out[`first/${key}`];
    if (out[key] !== undefined) out[`first/${key}`] ??= out[key];
  }
  return out;
}

const BESIDE = ['nonresponse', 'variance', 'regularise'];
const NEEDS_WEIGHT = ['weights', 'poisson', 'pps', 'two_stage'];

/** The design of the answers, with what the old one has in common with it. The result is a value for /design.
 * @param {DesignAnswers} a @param {any} old @param {string | null} column of the strata */
export function designOf(a, old, column = null) {
  const kind = kindOf(a), values = valuesOf(old);
  /** @type {any} */
  const design = {};
  const strata = a.strata && kind !== 'weights';
  if (strata) {
    const sizes = (IN_STRATA[kind] ?? []).map(f => f.key);
    for (const key of sizes) {
      delete values[key];
      delete values[`first/${key}`];
    }
    const own = inner(kind, values);
    const named = ['srs', 'census', 'srs_with_replacement', 'bernoulli'].includes(kind) && Object.keys(own).length === 0;
    const names = Object.entries(old?.stratified?.strata ?? {});
    design.stratified = {
      by: old?.stratified?.by ?? column ?? '', within: named ? kind : {[kind]: own},
      strata: Object.fromEntries(names.map(([name, of]) => [name, Object.fromEntries(Object.entries(of ?? {}).filter(([k]) => sizes.includes(k)))])),
    };
  } else design[kind] = inner(kind, values);
  for (const key of [...BESIDE, ...(NEEDS_WEIGHT.includes(kind) ? ['weight', 'max_weight', 'weights_are'] : [])])
    if (old?.[key] !== undefined) design[key] = old[key];
  if (kind !== 'weights') delete design.weight;
  if (kind !== 'weights' && design.weights_are) delete design.weights_are;
  return design;
}

/* ---- the setting ---- */

/** @typedef {{known: 'yes' | 'no', confidential: 'yes' | 'no', list: 'list' | 'population' | 'neither'}} SettingAnswers */

/** The setting of the answers; null: there is none, a secret sample and confidential answering cannot both be promised.
 * @param {SettingAnswers} a @returns {{protect: string, given: string, secret_sample: boolean} | null} */
export function settingOf(a) {
  if (a.known === 'no') {
    if (a.confidential === 'yes') return null;
    return {protect: 'frame', given: a.list === 'neither' ? 'nothing' : 'population', secret_sample: true};
  }
  const given = {list: 'frame', population: 'population', neither: 'nothing'}[a.list];
  return {protect: a.confidential === 'yes' ? 'respondents' : 'sample', given, secret_sample: false};
}

/** @param {any} privacy @returns {SettingAnswers | null} null: one of the other settings */
export function settingAnswers(privacy) {
  const protect = privacy?.protect ?? 'sample', given = privacy?.given ?? 'frame';
  const secret = isYes(privacy?.secret_sample);
  const list = /** @type {any} */ ({frame: 'list', population: 'population', nothing: 'neither'})[given];
  if (protect === 'frame' && secret && list && list !== 'list') return {known: 'no', confidential: 'no', list};
  if (secret || !list) return null;
  if (protect === 'sample') return {known: 'yes', confidential: 'no', list};
  if (protect === 'respondents') return {known: 'yes', confidential: 'yes', list};
  return null;
}

/** @param {any} value of a plan */
export const isYes = value => value === true || /^(yes|true)$/i.test(String(value ?? ''));

/* ---- statistics ---- */

/** @type {{value: string, label: string, of: 'none' | 'number' | 'condition' | 'either' | 'ratio' | 'groups'}[]} */
export const STATISTICS = [
  {value: 'count', label: 'Number of units', of: 'none'},
  {value: 'share', label: 'Share', of: 'condition'},
  {value: 'mean', label: 'Mean', of: 'number'},
  {value: 'total', label: 'Total', of: 'number'},
  {value: 'ratio', label: 'Rate (one number divided by another)', of: 'ratio'},
  {value: 'median', label: 'Median', of: 'number'},
  {value: 'quantile', label: 'Quantiles', of: 'number'},
  {value: 'share_below', label: 'Share below a line', of: 'number'},
  {value: 'poverty', label: 'At risk of poverty', of: 'number'},
  {value: 'gini', label: 'Gini coefficient', of: 'number'},
  {value: 's80s20', label: 'Upper to lower fifth (S80/S20)', of: 'number'},
  {value: 'iqr', label: 'Interquartile range', of: 'number'},
  {value: 'variance', label: 'Variance', of: 'number'},
  {value: 'histogram', label: 'Number of units in ranges', of: 'number'},
];

/** @typedef {{column: string, is: 'values' | 'range', values: string[], from: string, to: string}} Condition */
/** @typedef {{column: string, cuts: string}} Grouping */
/** @typedef {{kind: string, column: string, being: Condition[], to: Condition[], toColumn: string, by: Grouping[], where: Condition[],
 *   at: string, line: string, cuts: string}} StatisticForm */

/** @param {string} text of numbers between commas or blanks */
export const list = text => text.split(/[,;\s]+/).filter(t => t !== '').map(t => (/^-?(0|[1-9]\d{0,14})$/.test(t) ? Number(t) : t));

/** @param {Condition[]} conditions */
function indicator(conditions) {
  /** @type {Record<string, any>} */
  const out = {};
  for (const c of conditions) {
    if (!c.column) continue;
    if (c.is === 'range') {
      const [from] = list(c.from), [to] = list(c.to);
      out[c.column] = {...(from === undefined ? {} : {from}), ...(to === undefined ? {} : {to})};
    } else out[c.column] = c.values.length === 1 ? c.values[0] : c.values;
  }
  return out;
}

/** @param {Grouping[]} groups */
const grouping = groups => {
  const items = groups.filter(g => g.column).map(g => (list(g.cuts).length ? {[g.column]: list(g.cuts)} : g.column));
  return items.length === 1 ? items[0] : items;
};

/** The statistic of a sentence, or what is missing in it. @param {StatisticForm} f @returns {{statistic?: any, missing?: string}} */
export function statisticOf(f) {
  const of = STATISTICS.find(s => s.value === f.kind)?.of;
  /** @type {any} */
  const s = {};
  const conditions = c => c.length > 0 && c.every(x => x.column && (x.is === 'range' ? x.from || x.to : x.values.length));
  if (of === 'none') s.count = 'units';
  else if (of === 'condition') {
    if (!conditions(f.being)) return {missing: 'Say which column, and which of its values.'};
    s[f.kind] = indicator(f.being);
  } else if (of === 'ratio') {
    const one = f.column || (conditions(f.being) ? indicator(f.being) : null), other = f.toColumn || (conditions(f.to) ? indicator(f.to) : null);
    if (!one || !other) return {missing: 'Say what is divided by what.'};
    s.ratio = {of: one, to: other};
  } else {
    if (!f.column) return {missing: 'Choose a column.'};
    s[f.kind] = f.column;
    if (f.kind === 'quantile') s.at = list(f.at || '0.25 0.5 0.75');
    if (f.kind === 'histogram') {
      if (!list(f.cuts).length) return {missing: 'Say where the ranges begin.'};
      s.cuts = list(f.cuts);
    }
    if (f.kind === 'share_below') {
      if (!list(f.line).length) return {missing: 'Say where the line is.'};
      s.line = list(f.line)[0];
    }
  }
  const by = grouping(f.by);
  if (!Array.isArray(by) || by.length) s.by = by;
  if (f.where.length) {
    if (!conditions(f.where)) return {missing: 'Finish the condition, or remove it.'};
    s.where = indicator(f.where);
  }
  return {statistic: s};
}

/** @param {any} condition */
const inWords = condition => {
  if (typeof condition === 'string') return condition;
  return Object.entries(condition ?? {}).map(([column, c]) => {
    if (c && typeof c === 'object' && !Array.isArray(c)) return `${column} ${c.from ?? '…'} to ${c.to ?? '…'}`;
    return `${column} ${Array.isArray(c) ? c.join(' or ') : c}`;
  }).join(' and ');
};

/** @param {any} by @returns {string[]} */
const groupNames = by => (by === undefined ? [] : Array.isArray(by) ? by : [by]).map(g => (typeof g === 'string' ? g : Object.keys(g)[0]));

/** A statistic in words, while there is no preview to say it as the report does. @param {any} s */
export function sentence(s) {
  const kind = STATISTICS.find(k => k.value in (s ?? {}));
  let words = 'Table';
  if (s?.table !== undefined) words = `Number of units by ${groupNames(s.table).join(' and ')}`;
  else if (kind?.value === 'count') words = 'Number of units';
  else if (kind?.value === 'ratio') words = `${inWords(s.ratio?.of)} divided by ${inWords(s.ratio?.to)}`;
  else if (kind) words = `${kind.label} of ${inWords(s[kind.value])}`;
  const by = groupNames(s?.by);
  return words + (by.length ? ` by ${by.join(' and ')}` : '') + (s?.where ? `, only where ${inWords(s.where)}` : '');
}

/** The columns that a statistic uses, with the kind that it needs. @param {any} s @returns {{name: string, kind: 'number' | 'category', values: string[]}[]} */
export function columnsOf(s) {
  /** @type {{name: string, kind: 'number' | 'category', values: string[]}[]} */
  const out = [];
  const conditions = map => {
    for (const [name, c] of Object.entries(map ?? {})) {
      const range = c !== null && typeof c === 'object' && !Array.isArray(c);
      out.push({name, kind: range ? 'number' : 'category', values: range ? [] : [c].flat().map(String)});
    }
  };
  const value = v => (typeof v === 'string' ? out.push({name: v, kind: 'number', values: []}) : conditions(v));
  const groups = by => {
    for (const g of by === undefined ? [] : [by].flat()) {
      if (typeof g === 'string') out.push({name: g, kind: 'category', values: []});
      else for (const name of Object.keys(g)) out.push({name, kind: 'number', values: []});
    }
  };
  for (const [key, v] of Object.entries(s ?? {})) {
    if (key === 'count') continue;
    if (key === 'ratio') [v?.of, v?.to].forEach(value);
    else if (key === 'table' || key === 'by') groups(v);
    else if (key === 'where') conditions(v);
    else if (STATISTICS.some(k => k.value === key)) value(v);
  }
  return out;
}
