// Randomized response in a browser or in Node: the same as tamis_client.h, in one module without dependencies.
//
// An answer is one or more bits. Each bit is flipped with a known probability before it leaves the device: a one is reported as
// zero with exactly the probability `one`, a zero as one with `zero`. docs/collection.md of tamis describes the guarantee; `tamis
// tally` reads the packed form.
//
//     const form = {one: "1/4", zero: "1/4", names: ["smoker", "region=north", "region=south"]};
//     const reports = [1, 0, 1].map((bit) => report(bit, form));
//     await fetch(collector, {method: "POST", body: pack(reports, form)});
//
// A form is what all clients of a collection share: it is public, and exactly the same for all of them. `id`, if present, names a
// column of client ids. A bit of a category is named "region=north", that of a missing answer "smoker=missing". Failures throw an
// Error; then send nothing. The arithmetic is exact but, unlike in C, its time may depend on the random bits; it does not depend
// on the answer.

const DIGITS = 64n;
const encoder = new TextEncoder();

function randomBytes(n) {
    if (!globalThis.crypto?.getRandomValues) throw new Error("there is no source of randomness (crypto.getRandomValues)");
    return globalThis.crypto.getRandomValues(new Uint8Array(n));
}

// ---- probabilities ----

function gcd(a, b) {
    while (b > 0n) [a, b] = [b, a % b];
    return a;
}

// "1/4" in lowest terms: [1n, 4n].
function fraction(text) {
    const parts = /^([1-9][0-9]*)\/([1-9][0-9]*)$/.exec(text);
    if (!parts) throw new Error("a lie probability is a fraction, such as 1/4");
    const [over, under] = [BigInt(parts[1]), BigInt(parts[2])];
    const common = gcd(over, under);
    return [over / common, under / common];
}

function lies(form) {
    const one = fraction(form.one);
    const zero = fraction(form.zero);
    if (one[0] * zero[1] + zero[0] * one[1] >= one[1] * zero[1]) throw new Error("the sum of the two lie probabilities must be below 1");
    return [one, zero];
}

function bitOf(bit) {
    if (bit !== 0 && bit !== 1) throw new Error("a bit is 0 or 1");
    return bit;
}

// Compares U, by 64 binary digits at a time from nextDigits, with both probabilities, until both comparisons are decided; the
// bit only chooses between the two outcomes.
function lie(bit, form, nextDigits) {
    const states = lies(form).map(([over, under]) => ({rest: over, under, open: true, lies: 0}));
    while (states.some((s) => s.open)) {
        const u = nextDigits();
        for (const s of states) {
            const scaled = s.rest << DIGITS;
            const p = scaled / s.under;
            s.rest = scaled % s.under;
            if (s.open && u < p) s.lies = 1;
            if (u !== p) s.open = false;
        }
    }
    return bit ^ states[1 - bit].lies;
}

function wordAt(bytes, at) {
    let word = 0n;
    for (let i = 0; i < 8; i++) word = (word << 8n) | BigInt(bytes[at + i]);
    return word;
}

// The report of a bit with a fresh flip: 0 or 1.
export function report(bit, form) {
    return lie(bitOf(bit), form, () => wordAt(randomBytes(8), 0));
}

// ---- SHA-256 and HMAC; crypto.subtle exists only on pages served over https ----

// The first 32 bits of the fractional parts of the roots of the first primes, by integers: floor(2^32 p^(1/n)) mod 2^32.
const [START, ROUNDS] = (() => {
    const primes = [];
    for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p !== 0)) primes.push(n);
    const root = (p, n) => {
        const target = BigInt(p) << BigInt(32 * n);
        let low = 0n;
        for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) if ((low + bit) ** BigInt(n) <= target) low += bit;
        return Number(low & 0xffffffffn);
    };
    return [primes.slice(0, 8).map((p) => root(p, 2)), primes.map((p) => root(p, 3))];
})();

function sha256(bytes) {
    const blocks = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
    blocks.set(bytes);
    blocks[bytes.length] = 0x80;
    const view = new DataView(blocks.buffer);
    view.setBigUint64(blocks.length - 8, BigInt(bytes.length) * 8n);
    const turned = (x, n) => (x >>> n) | (x << (32 - n));
    const state = Uint32Array.from(START);
    const w = new Uint32Array(64);
    for (let at = 0; at < blocks.length; at += 64) {
        for (let i = 0; i < 64; i++) {
            if (i < 16) {
                w[i] = view.getUint32(at + 4 * i);
                continue;
            }
            const [a, b] = [w[i - 15], w[i - 2]];
            w[i] = w[i - 16] + w[i - 7] + (turned(a, 7) ^ turned(a, 18) ^ (a >>> 3)) + (turned(b, 17) ^ turned(b, 19) ^ (b >>> 10));
        }
        let [a, b, c, d, e, f, g, h] = state;
        for (let i = 0; i < 64; i++) {
            const t = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
            const v = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
            [a, b, c, d, e, f, g, h] = [(t + v) | 0, a, b, c, (d + t) | 0, e, f, g];
        }
        [a, b, c, d, e, f, g, h].forEach((x, i) => { state[i] += x; });
    }
    const hash = new Uint8Array(32);
    state.forEach((x, i) => new DataView(hash.buffer).setUint32(4 * i, x));
    return hash;
}

function joined(...parts) {
    const all = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}

function hmac(key, bytes) {
    const padded = (pad) => Uint8Array.from({length: 64}, (_, i) => (i < key.length ? key[i] : 0) ^ pad);
    return sha256(joined(padded(0x5c), sha256(joined(padded(0x36), bytes))));
}

// ---- permanent flips ----

// A secret for permanent flips: drawn once, kept on the device, never sent.
export function newSecret() {
    return randomBytes(32);
}

// The report of a bit with a permanent flip: the same answer gives the same report in each wave of a collection, so that the flip
// cannot be averaged out over waves. `answer` is the whole answer to the question, the same text each time: "1" or "0" for yes or
// no, the name of the category, "" for a missing one; `place` is the index of the bit's name in the form. All waves together
// reveal no more than one as long as the answer stays the same; each new answer costs epsilon again, and a report that changes
// reveals that the answer changed.
export function reportAgain(bit, form, place, answer, secret) {
    if (!(secret instanceof Uint8Array) || secret.length !== 32) throw new Error("a secret has 32 bytes");
    // The probabilities are part of it because the same U for two of them would reveal the answer.
    const parts = ["tamis memo 1", ...lies(form).map((p) => p.join("/")), form.names[place], answer];
    const text = encoder.encode(parts.map((part) => `${part}\0`).join(""));
    let counter = 0;
    let hash = new Uint8Array(0);
    let at = 0;
    return lie(bitOf(bit), form, () => {
        if (at === hash.length) {
            hash = hmac(secret, joined(text, number(counter++, 4)));
            at = 0;
        }
        at += 8;
        return wordAt(hash, at - 8);
    });
}

// ---- the packed form ----

const MAGIC = Uint8Array.of(0x89, 0x74, 0x6d, 0x6b, 0x0d, 0x0a, 0x1a, 0x0a);

// Little-endian.
function number(x, bytes) {
    return Uint8Array.from({length: bytes}, (_, i) => Math.floor(x / 2 ** (8 * i)) % 256);
}

function text(string) {
    const bytes = encoder.encode(string);
    if (bytes.length > 1024) throw new Error("a name has at most 1024 bytes");
    return joined(number(bytes.length, 4), bytes);
}

function header(form) {
    const names = form.names;
    if (names.length < 1 || names.length > 65536) throw new Error("a report has 1 to 65536 bits");
    const all = form.id ? [...names, form.id] : names;
    if (all.some((name) => name === "" || /[\u0000-\u001f\u007f-\u009f]/.test(name)) || new Set(all).size !== all.length) {
        throw new Error("names must not be empty, must be all different, and must not have control characters");
    }
    const texts = [...lies(form).map((p) => p.join("/")), form.id ?? "", ...names].map(text);
    const size = Math.ceil((24 + texts.reduce((n, t) => n + t.length, 0)) / 8) * 8;
    if (size > 2 ** 24) throw new Error("the names have too many bytes together");
    const bytes = new Uint8Array(size);
    bytes.set(joined(MAGIC, number(1, 4), number(size, 4), number(names.length, 4), number(form.id ? 1 : 0, 4), ...texts));
    return bytes;
}

// The packed form of one person's reports, one 0 or 1 for each bit of the form. A server may append what clients send to one file.
// `id`: the client's id if the form has an id column.
export function pack(reports, form, id) {
    if (reports.length !== form.names.length) throw new Error("there must be one report for each name");
    if (Boolean(form.id) !== Boolean(id)) throw new Error("an id is needed if and only if the form has an id column");
    const row = new Uint8Array(Math.ceil(reports.length / 64) * 8);
    reports.forEach((bit, j) => { row[j >> 3] |= bitOf(bit) << (j & 7); });
    const hash = id ? sha256(encoder.encode(id)).slice(0, 16) : new Uint8Array(0);
    return joined(header(form), number(1, 8), row, hash, number(0, 8), number(1, 8));
}

// Reads the packed form, for a server: {form, reports, ids}; ids are the 16 bytes that are stored of each, or null.
export function unpack(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const decoder = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true});
    let at = 0;
    let first = null;
    let form = null;
    const [reports, ids] = [[], []];
    const wrong = (what) => new Error(`byte ${at}: ${what}`);
    const take = (n) => {
        if (bytes.length - at < n) throw wrong("the file is truncated");
        at += n;
        return at - n;
    };
    const nextText = () => {
        const length = view.getUint32(take(4), true);
        const begin = take(length);
        return decoder.decode(bytes.subarray(begin, begin + length));
    };
    const readHeader = () => {
        const begin = take(24);
        if (MAGIC.some((byte, i) => bytes[begin + i] !== byte)) throw wrong("this is not the packed form of reports");
        if (view.getUint32(begin + 8, true) !== 1) throw wrong("unknown version of the packed form");
        const size = view.getUint32(begin + 12, true);
        const bits = view.getUint32(begin + 16, true);
        const flags = view.getUint32(begin + 20, true);
        const read = {one: nextText(), zero: nextText(), id: nextText() || null, names: []};
        while (read.names.length < bits) read.names.push(nextText());
        at = begin;
        const again = header(read); // the same bytes if the header is valid
        take(size);
        if (flags !== (read.id ? 1 : 0) || again.length !== size || again.some((byte, i) => bytes[begin + i] !== byte)) {
            throw wrong("the header is damaged");
        }
        if (first && again.some((byte, i) => first[i] !== byte)) throw wrong("another header than before: other bits, names or probabilities");
        [first, form] = [again, read];
    };
    while (at < bytes.length || !first) {
        readHeader();
        const bits = form.names.length;
        const stride = bits > 64 ? Math.ceil(bits / 64) * 64 : 2 ** Math.ceil(Math.log2(bits));
        const most = Math.min(form.id ? 65536 : 2 ** 23, Math.floor(2 ** 23 / stride));
        let count = 0n;
        for (;;) {
            const rows = view.getUint32(take(8), true);
            if (rows > most || view.getUint32(at - 4, true) !== 0) throw wrong("the beginning of a block is damaged");
            if (rows === 0) break;
            const words = take(Math.ceil((rows * stride) / 64) * 8);
            for (let b = 0; b < (at - words) * 8; b++) {
                const bit = (bytes[words + (b >> 3)] >> (b & 7)) & 1;
                const belongs = b < rows * stride && b % stride < bits;
                if (b < rows * stride && b % stride === 0) reports.push([]);
                if (belongs) reports[reports.length - 1].push(bit);
                else if (bit) throw wrong("a block has bits that belong to no report");
            }
            for (let i = 0; form.id && i < rows; i++) {
                const begin = take(16);
                ids.push(bytes.slice(begin, begin + 16));
            }
            count += BigInt(rows);
        }
        if (view.getBigUint64(take(8), true) !== count) throw wrong("the number of reports does not match the blocks");
    }
    return {form, reports, ids: form.id ? ids : null};
}
