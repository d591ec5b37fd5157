#include "release/sensitivity.h"

#include "num/number.h"

tamis_status tmi_sensitivity(int64_t *sensitivity, const tamis_setting *setting, int64_t low, int64_t high, size_t cells,
                             tamis_error *err)
{
    tamis_number *least = NULL, *most = NULL, *one = NULL;
    tamis_sensitivity found = {0};
    tamis_status status;
    *sensitivity = INT64_MAX;
    TMI_TRY(tmi_number_ratio(&least, low, 1, err));
    TMI_TRY(tmi_number_ratio(&most, high, 1, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    tamis_contribution c = {.values = {least, most}, .weights = {{one, one}}, .left_out = 1, .rows_per_unit = 1,
                            .cells = (int64_t)cells};
    TMI_TRY(tamis_sensitivity_of(&found, setting, TAMIS_HT_TOTAL, &c, err));
    if (!tmi_number_ceil(sensitivity, found.l1)) status = tmi_fail(err, TAMIS_INVALID, "sensitivity: beyond 2^63");

done:
    tamis_sensitivity_clear(&found);
    tamis_number_free(least);
    tamis_number_free(most);
    tamis_number_free(one);
    return status;
}

const char *tmi_sensitivity_words(size_t cells)
{
    return cells > 1 ? "a replaced record leaves one cell and enters another: |c| + |c'| <= 2 max(|low|, |high|)"
                     : "a replaced record changes one number, or is left out: |c - c'| <= max(|low|, |high|, high - low)";
}
