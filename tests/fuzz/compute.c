/* Any bytes as one line: the answer is a JSON object with an id and either "out" or "error". */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *answer = NULL;
    tamis_error err;
    tamis_status status = tamis_compute_line(&answer, (const char *)bytes, size, &err);
    if (!answer || strchr(answer, '\n')) abort();
    json_t *root = json_loads(answer, JSON_REJECT_DUPLICATES, NULL);
    if (!root || json_object_size(root) != 2 || !json_object_get(root, "id")) abort();
    if (!json_object_get(root, status == TAMIS_OK ? "out" : "error")) abort();
    json_decref(root);
    tamis_free(answer);
    return 0;
}
