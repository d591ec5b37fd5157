/* Elements by calls instead of markup: a text is always a text, whatever column names and labels contain. */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * @param {Element} node
 * @param {Record<string, any>} props  `on`: handlers by event; `data`: dataset; others are attributes, or removed if false or null
 */
export function props(node, props) {
  for (const [key, value] of Object.entries(props)) {
    if (key === 'on') for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (key === 'data') Object.assign(/** @type {HTMLElement} */ (node).dataset, value);
    else if (key === 'value') /** @type {any} */ (node).value = value;
    else if (key === 'checked') /** @type {any} */ (node).checked = value;
    else if (value === false || value === null || value === undefined) node.removeAttribute(key);
    else node.setAttribute(key, value === true ? '' : String(value));
  }
  return node;
}

/** @param {Element} node @param {any[]} children */
function fill(node, children) {
  for (const child of children.flat(4)) if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}

/** @param {string} tag @param {Record<string, any>} [attributes] @param {...any} children @returns {any} */
export function el(tag, attributes = {}, ...children) {
  return fill(props(document.createElement(tag), attributes), children);
}

/** @param {string} tag @param {Record<string, any>} [attributes] @param {...any} children @returns {any} */
export function svg(tag, attributes = {}, ...children) {
  return fill(props(document.createElementNS(SVG, tag), attributes), children);
}

/**
 * Brings the children of a node up to date with a list: what has the same key keeps its nodes, and so its focus.
 * @template T
 * @param {Element} parent
 * @param {T[]} list
 * @param {(item: T, i: number) => string} key
 * @param {(item: T) => Element & {update?: (item: T, i: number) => void}} make
 */
export function rows(parent, list, key, make) {
  const old = new Map();
  for (const node of /** @type {any[]} */ ([...parent.children])) old.set(node.rowKey, node);
  let at = /** @type {any} */ (parent.firstElementChild);
  list.forEach((item, i) => {
    const id = key(item, i);
    let node = old.get(id);
    if (node) old.delete(id);
    else node = Object.assign(make(item), {rowKey: id});
    if (node === at) at = at.nextElementSibling;
    else parent.insertBefore(node, at);
    node.update?.(item, i);
  });
  for (const node of old.values()) node.remove();
}

/** Replaces the content of a node, unless it is the same text already. @param {Element} node @param {...any} children */
export function put(node, ...children) {
  if (children.length === 1 && typeof children[0] === 'string') {
    if (node.textContent !== children[0] || node.childElementCount) node.textContent = children[0];
    return node;
  }
  node.replaceChildren();
  return fill(node, children);
}

let last = 0;

/** A new id: numbers, since names of columns cannot be ids. */
export const id = () => `i${++last}`;

/** @param {string} label @param {() => any} act @param {Record<string, any>} [more] @returns {any} */
export function button(label, act, more = {}) {
  const {class: style = '', ...rest} = more;
  return el('button', {type: 'button', class: `button ${style}`, on: {click: act}, ...rest}, label);
}

/** A box with a heading, such as the questions of a screen. @param {any} legend @param {...any} children @returns {any} */
export function box(legend, ...children) {
  return el('fieldset', {class: 'box'}, el('legend', {}, legend), children);
}

/** @param {string} title @param {...any} children @returns {any} */
export function card(title, ...children) {
  return el('section', {class: 'card'}, el('h2', {}, title), children);
}

/** Radio buttons. @param {string} name @param {{value: string, label: string, help?: string}[]} options @param {(v: string) => void} act */
export function choices(name, options, act, inline = false) {
  const inputs = options.map(o => {
    const help = o.help ? id() : null;
    const input = el('input', {type: 'radio', name, value: o.value, 'aria-describedby': help, on: {change: () => act(o.value)}});
    return {input, node: el('div', {class: 'choice'}, el('label', {}, input, el('span', {}, o.label)),
      o.help && el('p', {class: 'help', id: help}, o.help))};
  });
  const node = el('div', {class: inline ? 'choices inline' : 'choices'}, inputs.map(i => i.node));
  return {
    node,
    /** @param {string | null} value */
    set(value) { for (const {input} of inputs) input.checked = input.value === value; },
    /** @param {string} value @param {boolean} off */
    disable(value, off) { for (const {input} of inputs) if (input.value === value) input.disabled = off; },
  };
}

/** Options of a select, which stays what it was if they are the same. @param {any} select @param {{value: string, label: string}[]} list */
export function options(select, list) {
  const key = JSON.stringify(list);
  if (select.optionsKey === key) return;
  const value = select.value;
  select.optionsKey = key;
  select.replaceChildren(...list.map(o => el('option', {value: o.value}, o.label)));
  select.value = value;
}

/** Draws what is in a node again if its key changed: what somebody opened or focused in it stays otherwise.
 * @param {any} node @param {any} key @param {() => any} make */
export function draw(node, key, make) {
  const text = JSON.stringify(key ?? null);
  if (node.drawKey === text) return;
  node.drawKey = text;
  const at = node.contains(document.activeElement) ? document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent : null;
  put(node, make());
  if (at) [...node.querySelectorAll('button, a, input, select')].find(x => (x.getAttribute('aria-label') ?? x.textContent) === at)?.focus();
}
