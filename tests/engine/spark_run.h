/* Spark as an engine that is asked in SQL: statements go through the socket of tests/engine/with_spark, where its words are
 * described. */
#ifndef TESTS_ENGINE_SPARK_RUN_H
#define TESTS_ENGINE_SPARK_RUN_H

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <tamis/experimental/sql.h>

/* -1: there is no Spark here. */
static inline int spark_open(void)
{
    const char *path = getenv("TAMIS_TEST_SPARK");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path) return -1;
    const int door = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(door >= 0 && strlen(path) < sizeof address.sun_path);
    strcpy(address.sun_path, path);
    assert_int_equal(connect(door, (const struct sockaddr *)&address, sizeof address), 0);
    return door;
}

static inline void spark_send(int door, const void *bytes, size_t count)
{
    for (const char *at = bytes; count > 0;) {
        const ssize_t sent = write(door, at, count);
        assert_true(sent > 0);
        at += sent;
        count -= (size_t)sent;
    }
}

static inline void spark_receive(int door, void *bytes, size_t count)
{
    for (char *at = bytes; count > 0;) {
        const ssize_t got = read(door, at, count);
        assert_true(got > 0);
        at += got;
        count -= (size_t)got;
    }
}

/* The answer of one statement, which the caller frees; *good: it is rows, not an error. */
static inline char *spark_ask(int door, const char *sql, bool *good)
{
    unsigned char head[8], letter;
    size_t length = strlen(sql);
    for (size_t i = 0; i < 8; i++) head[i] = (unsigned char)(length >> 8 * i);
    spark_send(door, head, 8);
    spark_send(door, sql, length);
    spark_receive(door, &letter, 1);
    spark_receive(door, head, 8);
    length = 0;
    for (size_t i = 0; i < 8; i++) length |= (size_t)head[i] << 8 * i;
    char *text = malloc(length + 1);
    assert_non_null(text);
    spark_receive(door, text, length);
    text[length] = '\0';
    *good = letter == 'a';
    return text;
}

static inline void spark_do(int door, const char *sql)
{
    bool good;
    char *answer = spark_ask(door, sql, &good);
    if (!good) fail_msg("%s\n%.2000s", answer, sql);
    free(answer);
}

/* Its context is the socket. What Spark says of a statement that fails is printed: these rows are nobody's. */
static inline tamis_status spark_run_sql(void *context, tamis_reply *reply, const char *sql, tamis_error *err)
{
    bool good;
    char *answer = spark_ask(*(const int *)context, sql, &good);
    (void)err;
    if (good) tamis_reply_set(reply, answer);
    else fprintf(stderr, "# %.3000s\n# %.6000s\n", answer, sql);
    free(answer);
    return good ? TAMIS_OK : TAMIS_SYSTEM;
}

#endif
