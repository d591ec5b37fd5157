/* An error for programs: its sentences, with places, keys and what was charged, as JSON. */
#include <string.h>

#include "base/value/json.h"

static const char *code_of(tamis_status status)
{
    switch (status) {
    case TAMIS_INVALID: return "invalid";
    case TAMIS_REFUSED: return "refused";
    case TAMIS_UNABLE: return "unable";
    default: return "system";
    }
}

/* A piece of the message, which ends before `end`. */
static void put_piece(tmi_json_out *out, const tamis_error *problem, size_t from, size_t end)
{
    char piece[TAMIS_ERROR_SIZE];
    size_t length = end > from ? end - from : 0;
    memcpy(piece, problem->message + from, length);
    piece[length] = '\0';
    tmi_json_put_string(out, piece);
}

static void put_item(tmi_json_out *out, const tamis_error *problem, size_t i, const char *code, const char *file)
{
    const tamis_error_item none = {0}, *item = i < problem->item_count ? &problem->items[i] : &none;
    size_t end = i + 1 < problem->item_count ? (size_t)problem->items[i + 1].begin - 1
                                             : strnlen(problem->message, sizeof problem->message - 1);
    tmi_json_add_string(out, "code", code);
    tmi_json_key(out, "message");
    if (problem->message[0]) put_piece(out, problem, item->text, end);
    else tmi_json_put_string(out, "internal error");
    tmi_json_key(out, "key");
    if (item->key > 0) put_piece(out, problem, item->text, (size_t)item->text + item->key);
    else tmi_json_put_null(out);
    tmi_json_key(out, "file");
    if (item->file > 0) put_piece(out, problem, item->begin, (size_t)item->begin + item->file);
    else tmi_json_put_string(out, file);
    tmi_json_key(out, "line");
    if (item->line > 0) tmi_json_put_integer(out, item->line);
    else tmi_json_put_null(out);
    tmi_json_key(out, "column");
    if (item->column > 0) tmi_json_put_integer(out, item->column);
    else tmi_json_put_null(out);
}

static void put_charge(tmi_json_out *out, const tamis_error *problem)
{
    tmi_json_key(out, "charged");
    if (problem->entry == 0) {
        tmi_json_put_null(out);
        return;
    }
    tmi_json_open(out, '{');
    tmi_json_key(out, "ledger");
    put_piece(out, problem, problem->ledger.begin, (size_t)problem->ledger.begin + problem->ledger.length);
    tmi_json_add_integer(out, "entry", problem->entry);
    tmi_json_key(out, "amount");
    put_piece(out, problem, problem->amount.begin, (size_t)problem->amount.begin + problem->amount.length);
    tmi_json_close(out, '}');
}

tamis_status tamis_error_json(char **json, const tamis_error *problem, const char *code, const char *file, tamis_error *err)
{
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    *json = NULL;
    if (!problem) return tmi_fail(err, TAMIS_INVALID, "problem: NULL");
    tmi_text text;
    tmi_json_out out;
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, false);
    if (!code) code = code_of(problem->status);
    tmi_json_open(&out, '{');
    put_item(&out, problem, 0, code, file);
    tmi_json_add_string(&out, "reason", problem->reason[0] ? problem->reason : NULL);
    put_charge(&out, problem);
    tmi_json_add_open(&out, "errors", '[');
    for (size_t i = 0; i == 0 || i < problem->item_count; i++) {
        tmi_json_open(&out, '{');
        put_item(&out, problem, i, code, file);
        tmi_json_close(&out, '}');
    }
    tmi_json_close(&out, ']');
    tmi_json_close(&out, '}');
    return tmi_text_take(json, &text, err);
}
