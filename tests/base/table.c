#include "tests/test.h"

#include <string.h>

#include "base/table.h"
#include "tests/base/memory_that_fails.h"

static void widths_are_those_of_a_terminal(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
    } cases[] = {{"", 0},     {"abc", 3}, {"Zürich", 6}, {"東京", 4}, {"e\xcc\x81", 1},
                 {"한국", 4}, {"─", 1},   {"±", 1},      {"\xff", 1}, {"\xe6\x9d", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tmi_text_columns(cases[i].text), cases[i].columns);
    }
}

static tamis_status make(char **text)
{
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_LEFT};
    tmi_text_table table;
    tmi_text t;
    tmi_text_init(&t);
    tmi_table_init(&table, 3, align);
    tmi_table_row(&table, (const char *const[]){"", "n", "where"});
    tmi_table_row(&table, (const char *const[]){"東京", "1,000", "x"});
    tmi_table_row(&table, (const char *const[]){"Zürich", "7", NULL});
    tmi_table_row(&table, (const char *const[]){"title", NULL, NULL});
    tmi_table_write(&t, &table);
    tmi_table_clear(&table);
    return tmi_text_take(text, &t, NULL);
}

static void columns_are_aligned(void **state)
{
    (void)state;
    char *text;
    assert_int_equal(make(&text), TAMIS_OK);
    assert_string_equal(text, "            n  where\n"
                              "────────────────────\n"
                              "東京    1,000  x\n"
                              "Zürich      7\n"
                              "title\n");
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(make(&text), assert_null(text));
    tamis_free(text);
}

static void long_names_take_several_lines(void **state)
{
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT};
    (void)state;
    tmi_text_table table;
    tmi_text t;
    char wide[61];
    memset(wide, '9', 50);
    wide[50] = '\0';
    tmi_text_init(&t);
    tmi_table_init(&table, 2, align);
    tmi_table_row(&table, (const char *const[]){"name", "n"});
    tmi_table_row(&table, (const char *const[]){"  rows, sums and squares of income by state", wide});
    tmi_table_row(&table, (const char *const[]){"東京", "1"});
    tmi_table_write(&t, &table);
    tmi_table_clear(&table);
    assert_string_equal(t.bytes, "name                                                                          n\n"
                                 "───────────────────────────────────────────────────────────────────────────────\n"
                                 "  rows, sums and squares of\n"
                                 "      income by state        99999999999999999999999999999999999999999999999999\n"
                                 "東京                                                                          1\n");
    tmi_text_clear(&t);
}

/* Names without blanks are broken after a mark, or anywhere; notes go below; and with little room so do the numbers. */
static void wide_tables_fit(void **state)
{
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_LEFT};
    (void)state;
    const char *const name = "total of expenditure_of_reference_person_in_kind";
    for (size_t wide = 20; wide <= 70; wide += 5) {
        tmi_text_table table;
        tmi_text t;
        char number[71], joined[512] = "";
        memset(number, '9', wide);
        number[wide] = '\0';
        tmi_text_init(&t);
        tmi_table_init(&table, 3, align);
        tmi_table_row(&table, (const char *const[]){"", "n", ""});
        tmi_table_row(&table, (const char *const[]){name, number, "3 of 9: noise above 1/3 of size"});
        tmi_table_row(&table, (const char *const[]){"東東東東東東東東東東東東東東東東東東東東東東東東東東", "1", ""});
        tmi_table_write(&t, &table);
        tmi_table_clear(&table);
        assert_false(t.failed);
        for (char *line = t.bytes, *end; *line; line = end + 1) {
            end = strchr(line, '\n');
            *end = '\0';
            assert_true(tmi_text_columns(line) <= TMI_TEXT_WIDTH);
            for (const char *c = line; *c; c++) /* what is not a blank is all there, in order */
                if (*c != ' ' && (unsigned char)*c < 0x80 && *c != '9') strncat(joined, c, 1);
        }
        assert_non_null(strstr(joined, "ntotalofexpenditure_of_reference_person_in_kind3of:noiseabove1/3ofsize1"));
        tmi_text_clear(&t);
    }
}

static void a_long_name_is_broken_after_a_mark(void **state)
{
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_LEFT};
    (void)state;
    tmi_text_table table;
    tmi_text t;
    char number[41];
    memset(number, '9', 40);
    number[40] = '\0';
    tmi_text_init(&t);
    tmi_table_init(&table, 3, align);
    tmi_table_row(&table, (const char *const[]){"", "n", ""});
    tmi_table_row(&table, (const char *const[]){"total of expenditure_of_reference_person_in_kind", number, "3 of 9: small"});
    tmi_table_write(&t, &table);
    tmi_table_clear(&table);
    assert_string_equal(t.bytes, "                                                                              n\n"
                                 "───────────────────────────────────────────────────────────────────────────────\n"
                                 "total of expenditure_of_reference_\n"
                                 "    person_in_kind                     9999999999999999999999999999999999999999\n"
                                 "    3 of 9: small\n");
    tmi_text_clear(&t);
}

static void paragraphs_fit(void **state)
{
    (void)state;
    tmi_text t;
    tmi_text_init(&t);
    tmi_text_wrap(&t, "- ", "  ",
                  "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen");
    assert_string_equal(t.bytes, "- one two three four five six seven eight nine ten eleven twelve thirteen\n"
                                 "  fourteen fifteen sixteen seventeen\n");
    tmi_text_clear(&t);
    char word[101];
    memset(word, 'w', 100);
    word[100] = '\0';
    tmi_text_wrap(&t, "", "  ", word); /* a word longer than a line is not broken */
    assert_int_equal(strlen(t.bytes), 101);
    tmi_text_clear(&t);
    tmi_text_wrap(&t, "", "", "  ");
    assert_string_equal(t.bytes, "\n");
    tmi_text_clear(&t);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(widths_are_those_of_a_terminal),     cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(long_names_take_several_lines),      cmocka_unit_test(wide_tables_fit),
        cmocka_unit_test(a_long_name_is_broken_after_a_mark), cmocka_unit_test(paragraphs_fit),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
