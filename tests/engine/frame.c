/* The two readers of a CSV frame, DuckDB's and our own, hand out the same names and cells, or both refuse. */
#include "tests/test.h"

#include "engine/files/frame.h"
#include "tests/engine/folder.h"

typedef tamis_status open_frame(tmi_frame **frame, const char *path, const tamis_watch *watch, tamis_error *err);

/* Everything that a frame hands out, with what separates the parts: (-) is an empty cell. */
typedef struct heard {
    char text[1 << 16];
    size_t length, columns;
    int64_t rows;
} heard;

static void hear(heard *h, const char *bytes, size_t length)
{
    assert_true(length < sizeof h->text - h->length);
    memcpy(h->text + h->length, bytes, length);
    h->length += length;
    h->text[h->length] = '\0';
}

static tamis_status take(void *context, int64_t first, size_t rows, tmi_cell *const *cells, tamis_error *err)
{
    heard *h = context;
    (void)err;
    assert_int_equal(first, h->rows);
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < h->columns; c++) {
            hear(h, "(", 1);
            if (cells[c][i].bytes) hear(h, cells[c][i].bytes, cells[c][i].length);
            else hear(h, "-", 1);
            hear(h, c + 1 < h->columns ? ")" : ")\n", c + 1 < h->columns ? 1 : 2);
        }
    h->rows += (int64_t)rows;
    return TAMIS_OK;
}

/* All columns, the last one first and the first one twice. */
static tamis_status read_all(heard *h, open_frame *open, const char *path)
{
    tmi_frame *frame;
    *h = (heard){0};
    tamis_status status = open(&frame, path, NULL, NULL);
    if (status != TAMIS_OK) {
        assert_null(frame);
        return status;
    }
    size_t columns[8] = {0};
    assert_true(frame->column_count < 8);
    for (size_t c = 0; c < frame->column_count; c++) {
        hear(h, frame->names[c], strlen(frame->names[c]));
        hear(h, ";", 1);
        columns[c] = frame->column_count - 1 - c;
    }
    h->columns = frame->column_count + 1;
    status = tmi_frame_read(frame, columns, NULL, h->columns, take, h, NULL, NULL);
    assert_int_equal(frame->rows, h->rows);
    tmi_frame_free(frame);
    return status;
}

static void both_readers_agree(void **state)
{
    static const char *const files[] = {
        "a,b\n1,2\n3,4\n",
        "a\n1\n\n2\n",
        "a,b\n\n1,2\n",
        "\357\273\277a, b \r\n1,\"x, \"\"y\"\"\"\r\n,\r\n",
        "a,b\n 1 , \"2\" \n\t,x\n",
        "a,b\n\"\",\"\"\n\"line\nbreak\",\xc3\xa9\n",
        "a,b\n1,2",
        "a,b\n",
        /* refused by both */
        "",
        "a,b\n1\n",
        "a,b\n1,2,3\n",
        "a,a\n1,2\n",
        "a,b\n\"open,2\n",
        "a,b\n\"x\"y,2\n",
        "a,b\n1,\xff\n",
        "a,b\n1,2\r\n3,4\n5,6\r\n",
    };
    static heard ours, theirs;
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        const char *path = write_text("frame.csv", files[f]);
        const tamis_status own = read_all(&ours, tmi_frame_csv, path), duckdb = read_all(&theirs, tmi_frame_duckdb, path);
        if (own != duckdb) print_error("file %zu\n", f);
        assert_int_equal(own, duckdb);
        assert_string_equal(ours.text, theirs.text);
        assert_int_equal(own, f < 8 ? TAMIS_OK : TAMIS_INVALID);
    }
    assert_int_equal(read_all(&ours, tmi_frame_csv, in_folder("missing.csv")), TAMIS_INVALID);
}

/* More rows than one piece has. */
static void long_files_come_in_order(void **state)
{
    static heard ours, theirs;
    const char *path = in_folder("long.csv");
    FILE *file = fopen(path, "w");
    (void)state;
    fputs("n\n", file);
    for (int i = 0; i < 5000; i++) fprintf(file, "%d\n", i);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(read_all(&ours, tmi_frame_csv, path), TAMIS_OK);
    assert_int_equal(read_all(&theirs, tmi_frame_duckdb, path), TAMIS_OK);
    assert_int_equal(ours.rows, 5000);
    assert_string_equal(ours.text, theirs.text);
}

int main(void)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(both_readers_agree), cmocka_unit_test(long_files_come_in_order)};
    return cmocka_run_group_tests(cases, make_folder, remove_folder);
}
