/* Any bytes as a certificate: it is checked to its end, and what is found is said in words and in JSON alike.
 *
 * Changed bytes seldom leave JSON behind, so most changes are made to a value of the tree: another number or text, a value from
 * elsewhere in the file, or none. */
#include <jansson.h>
#include <stdbool.h>
#include <tamis/tamis.h>

#include "tests/fuzz/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);

/* ---- changes ---- */

static uint64_t draw(uint64_t *state, uint64_t below) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % below;
}

/* A place of the tree: member `key`, or number `index`, of `parent`. */
typedef struct place {
    json_t *parent;
    const char *key;
    size_t index;
    json_t *value;
} place;

/* Walks over all values, and keeps each with the chance that makes all equally likely in the end. */
static void choose(place *chosen, size_t *seen, json_t *parent, uint64_t *state)
{
    const char *key;
    json_t *value;
    size_t index;
    json_object_foreach (parent, key, value) {
        if (draw(state, ++*seen) == 0) *chosen = (place){parent, key, 0, value};
        choose(chosen, seen, value, state);
    }
    json_array_foreach (parent, index, value) {
        if (draw(state, ++*seen) == 0) *chosen = (place){parent, NULL, index, value};
        choose(chosen, seen, value, state);
    }
}

static place any_place(json_t *root, uint64_t *state)
{
    place chosen = {0};
    size_t seen = 0;
    choose(&chosen, &seen, root, state);
    return chosen;
}

/* Another value for this one; the caller owns it. */
static json_t *another(const json_t *value, json_t *root, uint64_t *state)
{
    static const char *const texts[] = {"0",    "1",      "-1", "1/2", "1/3",     "2",        "1e9",
                                        "1e-9", "1e1000", "",   "srs", "laplace", "gaussian", "frame"};
    static const json_int_t integers[] = {0, 1, -1, 2, 1000, INT64_C(1) << 40, INT64_MAX, INT64_MIN};
    const uint64_t how = draw(state, 8);
    if (how == 0) return json_null();
    if (how == 1) return json_boolean(!json_is_true(value));
    if (how == 2) return draw(state, 2) ? json_array() : json_object();
    if (how == 3) return json_deep_copy(any_place(root, state).value);
    if (json_is_integer(value) && how < 6)
        return json_integer((json_int_t)((uint64_t)json_integer_value(value) + draw(state, 3) - 1));
    if (json_is_integer(value)) return json_integer(integers[draw(state, sizeof integers / sizeof *integers)]);
    if (json_is_real(value)) return json_real(json_real_value(value) * (draw(state, 2) ? 2 : 0.999999));
    if (json_is_string(value) && how == 4) { /* a digit or letter of it */
        char text[256];
        snprintf(text, sizeof text, "%s", json_string_value(value));
        if (text[0] != '\0') text[draw(state, strlen(text))] = (char)('0' + draw(state, 10));
        json_t *changed = json_string(text);
        return changed ? changed : json_null(); /* a letter was cut in two */
    }
    return json_string(texts[draw(state, sizeof texts / sizeof *texts)]);
}

static void change(json_t *root, uint64_t *state)
{
    const place p = any_place(root, state);
    const bool drop = draw(state, 6) == 0;
    if (!p.parent) return;
    if (p.key && drop) json_object_del(p.parent, p.key);
    else if (p.key) json_object_set_new(p.parent, p.key, another(p.value, root, state));
    else if (drop) json_array_remove(p.parent, p.index);
    else json_array_set_new(p.parent, p.index, another(p.value, root, state));
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    uint64_t state = seed;
    json_t *root = draw(&state, 8) ? json_loadb((const char *)bytes, size, 0, NULL) : NULL;
    if (!root) return LLVMFuzzerMutate(bytes, size, most);
    for (uint64_t times = 1 + draw(&state, 3); times > 0; times--) change(root, &state);
    const size_t length = json_dumpb(root, (char *)bytes, most, 0);
    json_decref(root);
    return length > 0 && length <= most ? length : LLVMFuzzerMutate(bytes, size, most);
}

/* ---- the check ---- */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file("certificate.json", bytes, size);
    int ok[2] = {0};
    char *text[2] = {NULL};
    tamis_status status[2];
    tamis_error err = {0};
    for (int json = 0; json < 2; json++) {
        status[json] = (json ? tamis_verify_json : tamis_verify_text)(&ok[json], &text[json], path, NULL, &err);
        if ((status[json] == TAMIS_OK) != (text[json] != NULL)) abort();
        if (status[json] != TAMIS_OK && (ok[json] || err.status != status[json] || err.message[0] == '\0')) abort();
    }
    if (status[0] != status[1] || ok[0] != ok[1]) abort();
    if (text[1]) {
        json_t *root = json_loads(text[1], JSON_REJECT_DUPLICATES, NULL);
        if (!root || json_is_true(json_object_get(root, "ok")) != ok[1]) abort();
        if (ok[1] != (json_array_size(json_object_get(root, "problems")) == 0)) abort();
        json_decref(root);
    }
    tamis_free(text[0]);
    tamis_free(text[1]);
    return 0;
}
