// The JavaScript client: the same cases in Node and in a browser. Each case is [name, whether it holds].
import * as client from "../../client/tamis_client.mjs";

// Random numbers from these 64-bit words; undefined: the real ones again.
function script(words) {
    if (!words) {
        delete globalThis.crypto.getRandomValues;
        return;
    }
    let at = 0;
    Object.defineProperty(globalThis.crypto, "getRandomValues", {configurable: true, value: (array) => {
        if (at === words.length || array.length !== 8) throw new Error("no random bytes are left");
        for (let i = 0; i < 8; i++) array[i] = Number((words[at] >> BigInt(56 - 8 * i)) & 255n);
        at++;
        return array;
    }});
}

function lies(bit, form, words) {
    script(words);
    try {
        return client.report(bit, form) !== bit;
    } finally {
        script();
    }
}

function fails(what, says = "") {
    try {
        what();
        return false;
    } catch (error) {
        return error.message.includes(says);
    }
}

function exact() {
    for (const [one, zero] of [["1/4", "1/4"], ["1/3", "1/3"], ["1/2", "1/55"], ["3/16", "5/8"], ["2/8", "10/30"],
        ["123456789012345678901234567/987654321098765432109876543210", "1/7"]]) {
        const form = {one, zero, names: ["a"]};
        for (const bit of [0, 1]) {
            const [over, under] = (bit ? one : zero).split("/").map(BigInt);
            const [digits, rest] = [(over << 64n) / under, (over << 64n) % under];
            const next = (rest << 64n) / under;
            if (digits > 0n && !lies(bit, form, [digits - 1n, 0n])) return false;
            if (lies(bit, form, [digits + 1n, 0n])) return false;
            if (!fails(() => lies(bit, form, [digits]))) return false;
            if (next > 0n && !lies(bit, form, [digits, next - 1n])) return false;
            if (lies(bit, form, [digits, next + 1n])) return false;
            let lied = 0;
            let expected = 0;
            for (let u = 0n; u < 256n; u++) {
                lied += lies(bit, form, [u << 56n, 1n]);
                expected += u * under < over * 256n;
            }
            if (lied !== expected) return false;
        }
    }
    return true;
}

// n trials with probability p: within 7.5 standard deviations, outside with probability below 10^-12.
function chance(n = 20000) {
    const form = {one: "1/3", zero: "1/5", names: ["a"]};
    return [[1, 1 / 3], [0, 1 / 5]].every(([bit, p]) => {
        let lied = 0;
        for (let i = 0; i < n; i++) lied += client.report(bit, form) !== bit;
        return Math.abs(lied - n * p) < 7.5 * Math.sqrt(n * p * (1 - p));
    });
}

function known() {
    const form = {one: "1/3", zero: "1/5", names: Array.from({length: 40}, (_, i) => `q${i}`)};
    const secret = Uint8Array.from({length: 32}, (_, i) => i);
    return form.names.map((_, i) => client.reportAgain(i % 2, form, i, i % 2 ? "1" : "0", secret)).join("");
}

function roundTrips() {
    for (const bits of [1, 2, 3, 8, 9, 63, 64, 65, 200]) {
        for (const id of [null, "client"]) {
            const form = {one: "1/4", zero: "1/3", names: Array.from({length: bits}, (_, i) => `q${i}`), id};
            const reports = form.names.map((_, i) => (i * 7) % 3 === 0 ? 1 : 0);
            const bytes = client.pack(reports, form, id && "7");
            const twice = new Uint8Array(2 * bytes.length);
            twice.set(bytes);
            twice.set(bytes, bytes.length);
            const read = client.unpack(twice);
            if (JSON.stringify(read.reports) !== JSON.stringify([reports, reports])) return false;
            if (JSON.stringify(read.form.names) !== JSON.stringify(form.names) || (read.ids === null) !== (id === null)) return false;
        }
    }
    return true;
}

function refusals() {
    const form = {one: "1/4", zero: "1/4", names: ["a", "b"], id: null};
    const bytes = client.pack([0, 1], form);
    for (let cut = 0; cut < bytes.length; cut++) if (!fails(() => client.unpack(bytes.slice(0, cut)), "byte")) return false;
    const stray = bytes.slice();
    stray[stray.length - 24] = 4;
    return fails(() => client.unpack(stray), "no report") && fails(() => client.pack([0, 2], form)) && fails(() => client.pack([0], form)) &&
        fails(() => client.pack([0, 1], form, "7")) && fails(() => client.pack([0, 1], {...form, names: ["a", "a"]})) &&
        fails(() => client.pack([0, 1], {...form, names: ["a", "b\n"]})) && fails(() => client.report(2, form)) &&
        ["0/4", "1/2", "3/4", "0.25", "-1/4", "1/0"].every((lie) => fails(() => client.report(1, {...form, one: lie, zero: lie}))) &&
        fails(() => client.report(1, {...form, one: "1/3", zero: "2/3"})) && fails(() => lies(1, form, []));
}

function packed() {
    const form = {one: "2/2000000000000", zero: "1/1000000000000", names: ["smoker", "region=north", "region=south", "region=été"],
        id: "client"};
    return Array.from(client.pack([1, 0, 1, 0], form, "person 7"), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function cases() {
    return {checks: [["lies are exact", exact()], ["counts may be chance", chance()], ["what is packed is unpacked", roundTrips()],
        ["bad input is refused", refusals()], ["secrets differ", String(client.newSecret()) !== String(client.newSecret())]],
    known: known(), packed: packed()};
}
