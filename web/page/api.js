/* Calls of the server: POST /api/NAME with the token that the address brought. */

const KEY = 'tamis-token';
const NO_TOKEN = 'This tab was not opened by the address that the terminal printed. Open that address.';

/** Moves the token from the address to the memory of this tab, so that it is in no history and on no screen. */
export function takeToken() {
  const found = /^#([0-9a-f]{64})$/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(KEY, found[1]);
  history.replaceState(null, '', location.pathname);
}

/** What the server answered instead of doing it. */
export class Refusal extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(body?.message ?? 'The server gave no answer that could be read.');
    this.status = status;
    this.code = body?.code ?? 'unreadable';
    this.body = body ?? {};
    /** @type {{message: string, key: string | null, line: number | null, column: number | null}[]} */
    this.errors = body?.errors ?? [];
  }
  /** A newer question replaced this one. */
  get overtaken() { return this.status === 409 && this.code === 'overtaken'; }
}

/** @param {string} name @param {any} [body] @returns {Promise<any>} */
export async function call(name, body = {}) {
  const text = JSON.stringify(body);
  if (text.length > 1e6) throw new Refusal(413, {code: 'request', message: 'The plan is larger than 1 MB.'});
  const token = sessionStorage.getItem(KEY);
  if (!token) throw new Refusal(401, {code: 'token', message: NO_TOKEN});
  let answer;
  try {
    answer = await fetch('/api/' + name, {
      method: 'POST', cache: 'no-store', credentials: 'omit', body: text,
      headers: {'Content-Type': 'application/json', Authorization: 'Bearer ' + token},
    });
  } catch {
    throw new Refusal(0, {code: 'gone', message: 'tamis serve does not answer. Start it again and open the address that it prints; what you wrote is still in this tab.'});
  }
  let json = null;
  try {
    json = await answer.json();
  } catch { /* an answer of the gate may have no body */ }
  if (answer.status === 401) throw new Refusal(401, {code: 'token', message: NO_TOKEN});
  if (!answer.ok) throw new Refusal(answer.status, json);
  return json;
}
