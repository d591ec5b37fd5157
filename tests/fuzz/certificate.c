/* Any bytes as a certificate: it is checked to its end, and what is found is said in words and in JSON alike. */
#include <jansson.h>
#include <tamis/tamis.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file("certificate.json", bytes, size);
    int ok[2] = {0};
    char *text[2] = {NULL};
    tamis_status status[2];
    tamis_error err = {0};
    for (int json = 0; json < 2; json++) {
        status[json] = tamis_verify(&ok[json], &text[json], path, json, &err);
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
