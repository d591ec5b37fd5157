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
    tmi_json_key(out, "question");
    tmi_json_open(out, '{');
    tamis_status status = tmi_tally_put_fraction(out, "confidence", asked->confidence, err);
    if (status == TAMIS_OK) status = tmi_tally_put_fraction(out, "delta", asked->delta, err);
    tmi_json_key(out, "population");
    tmi_json_put_integer(out, asked->population);
    tmi_json_key(out, "promised");
    tmi_json_put_integer(out, asked->promised);
    tmi_json_key(out, "categories");
    tmi_json_put_string(out, asked->categories);
    tmi_json_close(out, '}');
    return status;
}

static void put_bound(tmi_json_out *out, const char *key, tamis_bound bound)
{
    tmi_json_key(out, key);
    tmi_json_put_bound(out, bound);
}

static void put_guarantee(tmi_json_out *out, const tmi_tally_results *r)
{
    tmi_json_key(out, "guarantee");
    tmi_json_open(out, '{');
    put_bound(out, "local_epsilon", r->guarantee.local);
    put_bound(out, "anonymous_epsilon", r->guarantee.anonymous);
    put_bound(out, "promised_epsilon", r->guarantee.promised);
    tmi_json_key(out, "positions");
    tmi_json_put_integer(out, r->guarantee.positions);
    tmi_json_key(out, "published");
    tmi_json_put_string(out, r->tally->cells ? "whole reports" : r->tally->weight ? "weighted sums" : "counts");
    if (r->tally->cells && r->asked.bounds != TMI_BOUNDS_FIRST) { /* the first certificates do not say */
        tmi_json_key(out, "bounds");
        tmi_json_put_integer(out, r->asked.bounds);
    }
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
    tmi_json_key(out, "survey");
    tmi_json_put_string(out, signs->survey);
    tmi_json_key(out, "entry");
    tmi_json_put_integer(out, signs->entry);
    tmi_json_key(out, "hash");
    tmi_json_put_string(out, signs->entry_hash);
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
    tmi_json_key(&out, "tamis");
    tmi_json_put_integer(&out, 1);
    tmi_json_key(&out, "kind");
    tmi_json_put_string(&out, "tally");
    TMI_TRY(put_question(&out, &r->asked, err));
    tmi_json_key(&out, "tally");
    tmi_json_open(&out, '{');
    TMI_TRY(tmi_tally_put(&out, r->tally, err));
    tmi_json_close(&out, '}');
    put_guarantee(&out, r);
    put_account(&out, signs);
    tmi_json_key(&out, "files");
    tmi_json_open(&out, '{');
    for (size_t i = 0; i < TMI_TALLY_FILES; i++) {
        char hash[TMI_SHA256_TEXT];
        tmi_sha256_text(hash, files[i], strlen(files[i]));
        tmi_json_key(&out, tmi_tally_files[i].name);
        tmi_json_put_string(&out, hash);
    }
    tmi_json_close(&out, '}');
    tmi_json_key(&out, "signed_by");
    tmi_json_put_string(&out, signs->signed_by[0] ? signs->signed_by : NULL);
    tmi_json_key(&out, "version");
    tmi_json_put_string(&out, tamis_version());
    tmi_json_close(&out, '}');
    tmi_text_put(&made, "\n");
    TMI_TRY(tmi_text_take(text, &made, err));
done:
    tmi_text_clear(&made);
    return status;
}
