#include "release/source_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "base/text.h"

/* ---- paths ---- */

/* A path from the root without "." and "..": where it does not exist, links in it cannot be resolved and "a/.." is taken off. */
static void put_components(tmi_text *whole, const char *path)
{
    while (*path) {
        const size_t length = strcspn(path, "/");
        if (length == 2 && strncmp(path, "..", 2) == 0) {
            while (whole->length > 0 && whole->bytes[whole->length - 1] != '/') whole->length--;
            if (whole->length > 0) whole->bytes[--whole->length] = '\0';
        } else if (length > 0 && !(length == 1 && *path == '.')) {
            tmi_text_put(whole, "/");
            tmi_text_add(whole, path, length);
        }
        path += length;
        path += *path == '/';
    }
}

/* The path from the root with its links resolved; of what does not exist yet, those of its folder. */
static tamis_status absolute(char **whole, const char *path, tamis_error *err)
{
    char real[PATH_MAX], here[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    tmi_text text;
    tmi_text_init(&text);
    if (realpath(path, real)) {
        tmi_text_put(&text, real);
        return tmi_text_take(whole, &text, err);
    }
    char *folder = slash ? tmi_copy_text(path, (size_t)(slash - path) + 1) : tmi_copy_text(".", 1);
    if (!folder) return tmi_fail_memory(err);
    if (realpath(folder, real)) {
        put_components(&text, real);
        put_components(&text, name);
    } else {
        if (path[0] != '/' && getcwd(here, sizeof here)) put_components(&text, here);
        put_components(&text, path);
    }
    if (!text.failed && text.length == 0) tmi_text_put(&text, "/");
    tmi_free(folder);
    return tmi_text_take(whole, &text, err);
}

/* `path` as seen from the folder of `file`, both from the root. */
static void put_relative(tmi_text *text, const char *path, const char *file)
{
    size_t common = 0;
    for (size_t i = 0; path[i] && path[i] == file[i]; i++)
        if (path[i] == '/') common = i + 1;
    for (const char *c = file + common; (c = strchr(c, '/')) != NULL; c++) tmi_text_put(text, "../");
    tmi_text_put(text, path + common);
}

/* ---- parts ---- */

static void put_file(tmi_json_out *out, const char *path, const char *table, const char *ledger)
{
    char *whole = NULL;
    tmi_text part;
    tmi_text_init(&part);
    tmi_text_put(&part, "file ");
    if (absolute(&whole, path, NULL) == TAMIS_OK) put_relative(&part, whole, ledger);
    else part.failed = true;
    if (table) tmi_text_format(&part, " table %s", table);
    tmi_json_put_taken(out, &part);
    tmi_free(whole);
}

static void put_connection(tmi_json_out *out, const char *connection, const char *table)
{
    char hash[TMI_SHA256_TEXT];
    tmi_text part;
    tmi_text_init(&part);
    tmi_sha256_text(hash, connection, strlen(connection));
    tmi_text_format(&part, "postgres %s table %s", hash, table);
    tmi_json_put_taken(out, &part);
}

static void put_command(tmi_json_out *out, const tmi_plan_source *source)
{
    char hash[TMI_SHA256_TEXT];
    tmi_text part;
    tmi_text_init(&part);
    tmi_hash_command(hash, source);
    tmi_text_format(&part, "command %s table %s", hash, source->table);
    tmi_json_put_taken(out, &part);
}

static void put_caller(tmi_json_out *out, const char *name)
{
    tmi_text part;
    tmi_text_init(&part);
    tmi_text_format(&part, "caller %s", name);
    tmi_json_put_taken(out, &part);
}

tamis_status tmi_source_parts(tmi_value **parts, const tmi_plan_source *source, const char *ledger, tamis_error *err)
{
    char *book = NULL;
    tmi_json_tree tree;
    *parts = NULL;
    tamis_status status = absolute(&book, ledger, err);
    if (status != TAMIS_OK) return status;
    tmi_json_tree_begin(&tree, NULL);
    tmi_json_open(&tree.out, '[');
    for (size_t i = 0; i < source->file_count; i++) put_file(&tree.out, source->files[i], source->table, book);
    if (source->caller) put_caller(&tree.out, source->caller);
    if (source->command) put_command(&tree.out, source);
    for (size_t i = 0; i < source->connection_count; i++) put_connection(&tree.out, source->connections[i], source->table);
    tmi_json_close(&tree.out, ']');
    tmi_free(book);
    return tmi_json_tree_end(parts, &tree, err);
}
