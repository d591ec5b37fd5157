/* Any bytes as a saved tally. One that is accepted is written again: the same bytes; and its shares can be estimated. */
#include <math.h>
#include <string.h>

#include "collect/tally/tally.h"
#include "tests/fuzz/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tamis_tally *tally = NULL;
    char *again = NULL;
    if (tamis_tally_new(&tally, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms)}, NULL) != TAMIS_OK) abort();
    if (tmi_tally_add_saved(tally, "fuzz.tally", (const char *)bytes, size, NULL) == TAMIS_OK) {
        if (tamis_tally_write(&again, tally, NULL) != TAMIS_OK) abort();
        if (strlen(again) != size || memcmp(again, bytes, size) != 0) abort();
        if (tally->reports > 0 && tally->reports < 1000 && tally->bits < 8) {
            tamis_tally_share shares[8];
            if (tamis_tally_shares(shares, tally, NULL, NULL) == TAMIS_OK && !(shares[0].lower <= shares[0].upper)) abort();
        }
    }
    tamis_free(again);
    tamis_tally_free(tally);
    return 0;
}
