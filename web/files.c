/* Files of the folder: listed, read and saved. Whatever a request calls a path is opened by openat2 below the folder's own
 * descriptor, so that neither `..` nor a link nor /proc leads out of it, however the folder changes meanwhile. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <tamis/experimental/draft.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

#define LISTED 2000
#define TRIES 16 /* the kernel asks to try again if something was renamed meanwhile */

/* ---- opening ---- */

static int open_below(int folder, const char *path, int flags, mode_t mode)
{
    const struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
                                 .mode = mode,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        fd = syscall(SYS_openat2, folder, path, &how, sizeof how);
        if (fd < 0 && errno != EAGAIN && errno != EINTR) break;
    }
    return (int)fd;
}

/* A path of --also, or what is below it. */
static int open_also(const web_server *server, const char *path, int flags)
{
    for (char *const *also = server->also; *also; also++) {
        const size_t length = strlen(*also);
        if (strncmp(path, *also, length) != 0 || (path[length] && path[length] != '/')) continue;
        if (!path[length]) return open(path, flags | O_CLOEXEC | O_NOFOLLOW);
        const int folder = open(*also, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        const char *rest = path + length + strspn(path + length, "/");
        const int fd = folder < 0 ? -1 : open_below(folder, *rest ? rest : ".", flags, 0);
        const int why = errno;
        if (folder >= 0) close(folder);
        errno = why;
        return fd;
    }
    errno = EACCES;
    return -1;
}

int web_open_file(const web_server *server, const char *path, int flags)
{
    if (!(flags & O_PATH)) flags |= O_NONBLOCK | O_NOCTTY; /* nobody waits for a pipe */
    if (path[0] == '/') return open_also(server, path, flags);
    return open_below(server->root, *path ? path : ".", flags, 0);
}

/* One sentence for what is missing and for what is elsewhere: whether a file of somebody else exists is not said. */
static tamis_status missing(tamis_error *err, const char *what, const char *path, const char *kind)
{
    *err = (tamis_error){.status = TAMIS_INVALID};
    snprintf(err->message, sizeof err->message, "%s: there is no %s '%.1000s' in the folder of this page", what, kind, path);
    return TAMIS_INVALID;
}

static tamis_status check(const web_server *server, const char *path, const char *what, mode_t type, tamis_error *err)
{
    struct stat found;
    const int fd = strlen(path) < WEB_PATH ? web_open_file(server, path, O_PATH) : -1;
    const bool right = fd >= 0 && fstat(fd, &found) == 0 && (found.st_mode & S_IFMT) == type;
    if (fd >= 0) close(fd);
    return right ? TAMIS_OK : missing(err, what, path, type == S_IFDIR ? "folder" : "file");
}

tamis_status web_check_file(const web_server *server, const char *path, const char *what, tamis_error *err)
{
    return check(server, path, what, S_IFREG, err);
}

tamis_status web_check_folder(const web_server *server, const char *path, const char *what, tamis_error *err)
{
    return check(server, path, what, S_IFDIR, err);
}

/* Splits "a/b/c" at its last slash; false if there is no name. */
static bool split(const char *path, char parent[WEB_PATH], const char **name)
{
    const char *slash = strrchr(path, '/');
    if (strlen(path) >= WEB_PATH) return false;
    *name = slash ? slash + 1 : path;
    if (slash == path || !slash) strcpy(parent, slash ? "/" : ".");
    else memcpy(parent, path, (size_t)(slash - path)), parent[slash - path] = '\0';
    return **name && strcmp(*name, ".") != 0 && strcmp(*name, "..") != 0;
}

static bool is_hidden(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (*part == '.') return true;
    }
    return false;
}

static bool has_control(const char *path)
{
    for (; *path; path++)
        if ((unsigned char)*path < ' ' || *path == 0x7f) return true;
    return false;
}

static tamis_status wrong_name(tamis_error *err, const char *what, const char *expected)
{
    *err = (tamis_error){.status = TAMIS_INVALID};
    snprintf(err->message, sizeof err->message, "%s: expected %s", what, expected);
    return TAMIS_INVALID;
}

tamis_status web_check_new(const web_server *server, const char *path, const char *what, tamis_error *err)
{
    char parent[WEB_PATH];
    const char *name;
    if (path[0] == '/' || is_hidden(path) || has_control(path) || !split(path, parent, &name))
        return wrong_name(err, what, "a name below the folder of this page, without a leading dot");
    tamis_status status = web_check_folder(server, parent, what, err);
    if (status != TAMIS_OK) return status;
    const int fd = web_open_file(server, path, O_PATH | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) return TAMIS_OK;
    if (fd >= 0) close(fd);
    *err = (tamis_error){.status = TAMIS_INVALID};
    snprintf(err->message, sizeof err->message, "%s: '%.1000s' exists already", what, path);
    return TAMIS_INVALID;
}

tamis_status web_read_file(const web_server *server, const char *path, size_t most, char **bytes, size_t *length,
                           tamis_error *err)
{
    struct stat found;
    const int fd = strlen(path) < WEB_PATH ? web_open_file(server, path, O_RDONLY) : -1;
    *bytes = NULL;
    *length = 0;
    tamis_status status = fd >= 0 && fstat(fd, &found) == 0 && S_ISREG(found.st_mode) ? TAMIS_OK
                                                                                      : missing(err, "file", path, "file");
    if (status == TAMIS_OK && (found.st_size < 0 || (uint64_t)found.st_size > most)) {
        *err = (tamis_error){.status = status = TAMIS_INVALID};
        snprintf(err->message, sizeof err->message, "file: '%.1000s' has more than %zu bytes", path, most);
    }
    char *all = status == TAMIS_OK ? malloc(most + 1 < (size_t)found.st_size + 1 ? most + 1 : (size_t)found.st_size + 1) : NULL;
    if (status == TAMIS_OK && !all) *err = (tamis_error){.status = status = TAMIS_SYSTEM, .message = "out of memory"};
    size_t got = 0;
    while (status == TAMIS_OK && got < (size_t)found.st_size) {
        const ssize_t now = read(fd, all + got, (size_t)found.st_size - got);
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) *err = (tamis_error){.status = status = TAMIS_SYSTEM, .message = "a file could not be read"};
        if (now <= 0) break;
        got += (size_t)now;
    }
    if (fd >= 0) close(fd);
    if (status != TAMIS_OK) {
        free(all);
        return status;
    }
    all[got] = '\0';
    *bytes = all;
    *length = got;
    return TAMIS_OK;
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcasecmp(text + length - tail, ending) == 0;
}

bool web_is_plan_name(const char *path)
{
    return (ends_with(path, ".yaml") || ends_with(path, ".yml")) && !is_hidden(path) && !has_control(path) &&
           strlen(path) < WEB_PATH;
}

/* ---- the list ---- */

typedef struct entry {
    char name[256];
    const char *kind;
    struct stat found;
} entry;

static const char *kind_of(int folder, const char *name, const struct stat *found)
{
    static const char *const kinds[][2] = {{".yaml", "plan"}, {".yml", "plan"},    {".csv", "data"}, {".parquet", "data"},
                                           {".sav", "data"},  {".zsav", "data"},   {".dta", "data"}, {".sas7bdat", "data"},
                                           {".xpt", "data"},  {".duckdb", "data"}, {".db", "data"},  {".ledger", "ledger"},
                                           {".key", "key"}};
    if (S_ISDIR(found->st_mode)) {
        char inside[300];
        snprintf(inside, sizeof inside, "%s/certificate.json", name);
        const int fd = open_below(folder, inside, O_PATH, 0);
        if (fd >= 0) close(fd);
        return fd >= 0 ? "release" : "folder";
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_with(name, kinds[i][0])) return kinds[i][1];
    return "other";
}

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const bool x_is_folder = S_ISDIR(x->found.st_mode), y_is_folder = S_ISDIR(y->found.st_mode);
    return x_is_folder != y_is_folder ? (x_is_folder ? -1 : 1) : strcmp(x->name, y->name);
}

static void put_entry(web_text *out, const char *name, const char *path, const char *kind, const struct stat *found)
{
    char piece[128];
    struct tm time;
    web_put(out, "{\"name\": ");
    web_put_string(out, name);
    web_put(out, ", \"path\": ");
    web_put_string(out, path);
    if (S_ISDIR(found->st_mode)) snprintf(piece, sizeof piece, ", \"kind\": \"%s\", \"size\": null", kind);
    else snprintf(piece, sizeof piece, ", \"kind\": \"%s\", \"size\": %lld", kind, (long long)found->st_size);
    web_put(out, piece);
    if (gmtime_r(&found->st_mtime, &time) && strftime(piece, sizeof piece, ", \"modified\": \"%Y-%m-%dT%H:%M:%SZ\"}", &time) > 0)
        web_put(out, piece);
    else web_put(out, ", \"modified\": null}");
}

static bool is_utf8(const char *text)
{
    json_t *value = json_string(text);
    json_decref(value);
    return value != NULL;
}

void web_route_files(web_request *r)
{
    const web_server *server = r->server;
    const char *folder = "";
    tamis_error err = {0};
    if (!web_string(r, "folder", &folder, false)) return;
    if (strcmp(folder, ".") == 0) folder = "";
    const int fd = strlen(folder) < WEB_PATH - 300 ? web_open_file(server, folder, O_RDONLY | O_DIRECTORY) : -1;
    DIR *list = fd >= 0 && !is_hidden(folder) ? fdopendir(fd) : NULL;
    if (!list) {
        if (fd >= 0) close(fd);
        (void)missing(&err, "folder", folder, "folder");
        web_failed(r, &err);
        return;
    }
    entry *entries = malloc((LISTED + 1) * sizeof *entries);
    size_t count = 0;
    for (struct dirent *item; entries && count <= LISTED && (item = readdir(list));) {
        entry *e = &entries[count];
        if (item->d_name[0] == '.' || strlen(item->d_name) >= sizeof e->name || !is_utf8(item->d_name)) continue;
        /* what a link leads to, if that is inside; pipes and devices are nobody's data */
        char path[WEB_PATH];
        int found = -1;
        snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", item->d_name);
        const int there = web_open_file(server, path, O_PATH);
        if (there >= 0) {
            found = fstat(there, &e->found);
            close(there);
        }
        if (found != 0 || (!S_ISREG(e->found.st_mode) && !S_ISDIR(e->found.st_mode))) continue;
        strcpy(e->name, item->d_name);
        e->kind = kind_of(fd, e->name, &e->found);
        count++;
    }
    web_text out = {.failed = !entries};
    const bool more = count > LISTED;
    if (more) count = LISTED;
    if (entries) qsort(entries, count, sizeof *entries, compare);
    web_put(&out, "{\"folder\": ");
    web_put_string(&out, folder);
    web_put(&out, ", \"entries\": [");
    bool first = true;
    for (char *const *also = server->also; !*folder && *also; also++) { /* by their whole paths */
        struct stat found;
        const char *name = strrchr(*also, '/');
        if (stat(*also, &found) != 0 || !name || !is_utf8(*also)) continue;
        if (!first) web_put(&out, ", ");
        first = false;
        put_entry(&out, name[1] ? name + 1 : name, *also, S_ISDIR(found.st_mode) ? "folder" : kind_of(-1, *also, &found), &found);
    }
    for (size_t i = 0; entries && i < count; i++) {
        char path[WEB_PATH];
        snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", entries[i].name);
        if (!first) web_put(&out, ", ");
        first = false;
        put_entry(&out, entries[i].name, path, entries[i].kind, &entries[i].found);
    }
    web_put(&out, more ? "], \"more\": true}" : "], \"more\": false}");
    closedir(list);
    free(entries);
    web_answer_text(r, MHD_HTTP_OK, &out);
}

/* ---- plans on the disk ---- */

static bool plan_name(web_request *r, const char **file)
{
    if (!web_string(r, "file", file, true)) return false;
    if (web_is_plan_name(*file)) return true;
    web_refuse(r, WEB_WRONG, "request", "file: expected the name of a plan, such as plan.yaml");
    return false;
}

static void put_plan(web_text *out, const char *file, const char *text, const char *hash)
{
    web_put(out, "{\"file\": ");
    web_put_string(out, file);
    if (text) {
        web_put(out, ", \"text\": ");
        web_put_string(out, text);
    }
    web_put(out, ", \"hash\": ");
    web_put_string(out, hash);
    web_put(out, "}");
}

void web_route_read(web_request *r)
{
    const char *file = NULL;
    char *bytes = NULL, hash[WEB_HASH];
    size_t length = 0;
    tamis_error err = {0};
    web_text out = {0};
    if (!plan_name(r, &file)) return;
    if (web_read_file(r->server, file, WEB_PLAN, &bytes, &length, &err) != TAMIS_OK) {
        web_failed(r, &err);
        return;
    }
    web_put_hash(hash, bytes, length);
    if (strlen(bytes) != length || !is_utf8(bytes)) web_refuse(r, WEB_WRONG, "invalid", "file: this is not a text in UTF-8");
    else {
        put_plan(&out, file, bytes, hash);
        web_answer_text(r, MHD_HTTP_OK, &out);
    }
    free(bytes);
}

/* Says what the file has now, if that is not what the page has read; `hash` is empty if there is no file. */
static void answer_changed(web_request *r, const char *hash, const char *bytes)
{
    static const char message[] = "file: it was changed since the page has read it";
    tamis_error err = {.status = TAMIS_INVALID};
    web_text out = {0}, error = {0};
    memcpy(err.message, message, sizeof message);
    web_put_error(&error, &err, "changed");
    if (!error.failed && error.length > 0 && error.bytes[0] == '{') {
        web_put(&out, "{\"hash\": ");
        web_put_string(&out, *hash ? hash : NULL);
        web_put(&out, ", \"text\": ");
        web_put_string(&out, bytes && is_utf8(bytes) ? bytes : NULL);
        web_put(&out, ", ");
        web_put(&out, error.bytes + 1);
    }
    out.failed |= error.failed;
    free(error.bytes);
    web_answer_text(r, MHD_HTTP_CONFLICT, &out);
}

/* What is in the file now; hash empty: nothing. */
static bool read_now(const web_server *server, const char *file, char **bytes, char hash[WEB_HASH])
{
    size_t length = 0;
    hash[0] = '\0';
    if (web_read_file(server, file, WEB_PLAN, bytes, &length, &(tamis_error){0}) != TAMIS_OK) return false;
    web_put_hash(hash, *bytes, length);
    return true;
}

bool web_is_saved(web_request *r, const char *file, const char *text)
{
    char *bytes = NULL, hash[WEB_HASH];
    const bool same = read_now(r->server, file, &bytes, hash) && strcmp(bytes, text) == 0;
    if (!same) answer_changed(r, hash, bytes);
    free(bytes);
    return same;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t now = write(fd, bytes, length);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) return false;
        bytes += now;
        length -= (size_t)now;
    }
    return fsync(fd) == 0;
}

/* Complete or not at all: a temporary file beside it takes its name. `fresh`: nothing may have that name. */
static tamis_status write_file(const web_server *server, const char *path, const char *bytes, size_t length, bool fresh,
                               tamis_error *err)
{
    char parent[WEB_PATH], temporary[64] = ".tamis-", random[33];
    const char *name = NULL;
    struct stat old;
    *err = (tamis_error){.status = TAMIS_SYSTEM, .message = "the file could not be written"};
    if (!split(path, parent, &name) || !web_random(random, 32)) return TAMIS_SYSTEM;
    strcat(temporary, random);
    const int folder = web_open_file(server, parent, O_PATH | O_DIRECTORY);
    const int sync = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fd = folder < 0 ? -1 : openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    bool done = fd >= 0 && write_all(fd, bytes, length);
    const bool exists = folder >= 0 && fstatat(folder, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
    if (done && exists && !fresh) done = S_ISREG(old.st_mode) && fchmod(fd, old.st_mode & 0777) == 0; /* a link stays one */
    if (done) done = renameat2(folder, temporary, folder, name, fresh ? RENAME_NOREPLACE : 0) == 0;
    if (fd >= 0 && !done) unlinkat(folder, temporary, 0);
    if (done && sync >= 0) (void)fsync(sync);
    if (fd >= 0) close(fd);
    if (sync >= 0) close(sync);
    if (folder >= 0) close(folder);
    return done ? TAMIS_OK : TAMIS_SYSTEM;
}

void web_route_save(web_request *r)
{
    const char *file = NULL, *text = NULL, *hash = NULL;
    char *bytes = NULL, now[WEB_HASH];
    tamis_error err = {0};
    web_text out = {0};
    if (!plan_name(r, &file) || !web_string(r, "text", &text, true) || !web_string(r, "hash", &hash, false)) return;
    if (file[0] == '/' || strlen(text) > WEB_PLAN) {
        web_refuse(r, WEB_WRONG, "request",
                   file[0] == '/' ? "file: expected a name below the folder of this page" : "text: a plan has at most 1 MB");
        return;
    }
    const bool exists = read_now(r->server, file, &bytes, now);
    tamis_status status = TAMIS_OK;
    if (hash ? !exists || strcmp(hash, now) != 0 : exists) {
        answer_changed(r, now, bytes);
    } else {
        if (!exists) status = web_check_new(r->server, file, "file", &err);
        if (status == TAMIS_OK) status = write_file(r->server, file, text, strlen(text), !exists, &err);
        if (status != TAMIS_OK) web_failed(r, &err);
        else {
            web_put_hash(now, text, strlen(text));
            put_plan(&out, file, NULL, now);
            web_answer_text(r, MHD_HTTP_OK, &out);
        }
    }
    free(bytes);
}

/* ---- the example ---- */

#define EXAMPLE_BYTES ((size_t)16 << 20)

/* A file that comes with tamis. */
static tamis_status read_shared(const char *path, char **bytes, size_t *length, tamis_error *err)
{
    FILE *file = fopen(path, "re");
    *bytes = file ? malloc(EXAMPLE_BYTES + 1) : NULL;
    *length = *bytes ? fread(*bytes, 1, EXAMPLE_BYTES, file) : 0;
    if (file) fclose(file);
    if (*bytes && *length > 0 && *length < EXAMPLE_BYTES) {
        (*bytes)[*length] = '\0';
        return TAMIS_OK;
    }
    *err = (tamis_error){.status = TAMIS_SYSTEM, .message = "the example that comes with tamis is missing"};
    return TAMIS_SYSTEM;
}

/* The file of a plan's source, from its text. */
static bool source_of(char name[256], const char *text)
{
    char *json = NULL;
    if (tamis_draft_json(&json, "plan.yaml", text, strlen(text), NULL, NULL) != TAMIS_OK) return false;
    json_t *draft = json_loads(json, 0, NULL);
    const char *file = json_string_value(json_object_get(json_object_get(json_object_get(draft, "tree"), "source"), "file"));
    const bool found = file && strlen(file) < 256 && !strchr(file, '/') && file[0] != '.';
    if (found) strcpy(name, file);
    json_decref(draft);
    tamis_free(json);
    return found;
}

static tamis_status copy_example(web_server *server, const char *folder, tamis_error *err)
{
    const char *plan = server->options->example, *slash = strrchr(plan, '/');
    char source[256] = "", from[WEB_PATH], to[WEB_PATH], *text = NULL, *rows = NULL;
    size_t length = 0, size = 0;
    tamis_status status = read_shared(plan, &text, &length, err);
    if (status == TAMIS_OK && !source_of(source, text)) {
        *err = (tamis_error){.status = status = TAMIS_SYSTEM, .message = "the example that comes with tamis names no file"};
    }
    snprintf(from, sizeof from, "%.*s/%s", (int)(slash ? slash - plan : 1), slash ? plan : ".", source);
    if (status == TAMIS_OK) status = read_shared(from, &rows, &size, err);
    snprintf(to, sizeof to, "%s/%s", folder, source);
    if (status == TAMIS_OK) status = write_file(server, to, rows, size, true, err);
    snprintf(to, sizeof to, "%s/plan.yaml", folder);
    if (status == TAMIS_OK) status = write_file(server, to, text, length, true, err);
    free(text);
    free(rows);
    return status;
}

void web_route_example(web_request *r)
{
    char folder[64] = "tamis-example", file[80];
    tamis_error err = {.status = TAMIS_SYSTEM, .message = "the example that comes with tamis is missing"};
    web_text out = {0};
    bool made = false;
    for (int i = 2; r->server->options->example && i < 100 && !made; i++) {
        made = mkdirat(r->server->root, folder, 0777) == 0;
        if (!made && errno != EEXIST) {
            memcpy(err.message, "no folder can be made here", sizeof "no folder can be made here");
            break;
        }
        if (!made) snprintf(folder, sizeof folder, "tamis-example-%d", i);
    }
    if (!made || copy_example(r->server, folder, &err) != TAMIS_OK) {
        web_failed(r, &err);
        return;
    }
    snprintf(file, sizeof file, "%s/plan.yaml", folder);
    web_put(&out, "{\"file\": ");
    web_put_string(&out, file);
    web_put(&out, "}");
    web_answer_text(r, MHD_HTTP_OK, &out);
}
