#include "collect/tally/certificate.h"

#include <string.h>

#include "base/memory.h"
#include "num/bound.h"
#include "num/number.h"

const tmi_tally_file tmi_tally_files[TMI_TALLY_FILES] = {{"release.json", tmi_tally_put_json},
                                                         {"release.csv", tmi_tally_put_csv},
                                                         {"report.html", tmi_tally_put_page}};

tamis_status tmi_tally_write_files(char *files[TMI_TALLY_FILES], const tmi_tally_results *r, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; status == TAMIS_OK && i < TMI_TALLY_FILES; i++) {
        tmi_text text;
        tmi_text_init(&text);
        status = tmi_tally_files[i].put(&text, r, err);
        if (status == TAMIS_OK) status = tmi_text_take(&files[i], &text, err);
        tmi_text_clear(&text);
    }
    return status;
}

static tamis_status put_question(tmi_json_out *out, const tmi_asked *asked, tamis_error *err)
{
    tmi_json_add_open(out, "question", '{');
    tamis_status status = tmi_tally_put_fraction(out, "confidence", asked->confidence, err);
    if (status == TAMIS_OK) status = tmi_tally_put_fraction(out, "delta", asked->delta, err);
    tmi_json_add_integer(out, "population", asked->population);
    tmi_json_add_integer(out, "promised", asked->promised);
    tmi_json_add_string(out, "categories", asked->categories);
    tmi_json_close(out, '}');
    return status;
}

static void put_guarantee(tmi_json_out *out, const tmi_tally_results *r)
{
    tmi_json_add_open(out, "guarantee", '{');
    tmi_json_add_bound(out, "local_epsilon", r->guarantee.local);
    tmi_json_add_bound(out, "anonymous_epsilon", r->guarantee.anonymous);
    tmi_json_add_bound(out, "promised_epsilon", r->guarantee.promised);
    tmi_json_add_integer(out, "positions", r->guarantee.positions);
    tmi_json_add_string(out, "published", r->tally->cells ? "whole reports" : r->tally->weight ? "weighted sums" : "counts");
    if (r->tally->cells && r->asked.bounds != TMI_BOUNDS_FIRST) /* the first certificates do not say */
        tmi_json_add_integer(out, "bounds", r->asked.bounds);
    tmi_json_close(out, '}');
}

static void put_account(tmi_json_out *out, const tmi_tally_signs *signs)
{
    tmi_json_key(out, "account");
    if (!signs->survey) {
        tmi_json_put_null(out);
        return;
    }
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "survey", signs->survey);
    tmi_json_add_integer(out, "entry", signs->entry);
    tmi_json_add_string(out, "hash", signs->entry_hash);
    tmi_json_close(out, '}');
}

tamis_status tmi_tally_certify(char **text, char *const files[TMI_TALLY_FILES], const tmi_tally_results *r,
                               const tmi_tally_signs *signs, tamis_error *err)
{
    tmi_text made;
    tmi_json_out out;
    tamis_status status;
    *text = NULL;
    tmi_text_init(&made);
    tmi_json_out_init(&out, &made, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_json_add_string(&out, "kind", "tally");
    TMI_TRY(put_question(&out, &r->asked, err));
    tmi_json_add_open(&out, "tally", '{');
    TMI_TRY(tmi_tally_put(&out, r->tally, err));
    tmi_json_close(&out, '}');
    put_guarantee(&out, r);
    put_account(&out, signs);
    tmi_json_add_open(&out, "files", '{');
    for (size_t i = 0; i < TMI_TALLY_FILES; i++) {
        char hash[TMI_SHA256_TEXT];
        tmi_sha256_text(hash, files[i], strlen(files[i]));
        tmi_json_add_string(&out, tmi_tally_files[i].name, hash);
    }
    tmi_json_close(&out, '}');
    tmi_json_add_string(&out, "signed_by", signs->signed_by[0] ? signs->signed_by : NULL);
    tmi_json_add_string(&out, "version", tamis_version());
    tmi_json_close(&out, '}');
    tmi_text_put(&made, "\n");
    TMI_TRY(tmi_text_take(text, &made, err));
done:
    tmi_text_clear(&made);
    return status;
}
