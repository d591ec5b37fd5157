#include "tests/test.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plot/plot.h"
#include "base/table.h"
#include "tests/base/memory_that_fails.h"

/* ---- ticks ---- */

static void ticks_are_round_numbers(void **state)
{
    (void)state;
    static const struct {
        bool log, widen, unicode;
        double from, to;
        int wanted;
        const char *labels;
    } cases[] = {
        {false, false, false, 0, 1, 5, "0 0.2 0.4 0.6 0.8 1"},
        {false, false, false, 0, 2, 6, "0 0.5 1 1.5 2"},
        {false, true, false, 0.13, 0.87, 5, "0 0.2 0.4 0.6 0.8 1"},
        {false, false, false, -30, 30, 6, "-30 -20 -10 0 10 20 30"},
        {false, false, false, 0, 250000, 5, "0 50,000 100,000 150,000 200,000 250,000"},
        {false, false, false, 0, 3.3e8, 4, "0 1e8 2e8 3e8"},
        {false, false, true, 0, 3.3e8, 4, "0 10⁸ 2·10⁸ 3·10⁸"},
        {false, false, true, 1.2e7, 1.4e7, 4, "1.2·10⁷ 1.25·10⁷ 1.3·10⁷ 1.35·10⁷ 1.4·10⁷"},
        {false, false, false, -3e-7, 0, 3, "-3e-7 -2e-7 -1e-7 0"},
        {true, false, false, -12, 0, 4, "1e-12 1e-9 1e-6 1e-3 1e0"},
        {true, false, true, -12, 0, 4, "10⁻¹² 10⁻⁹ 10⁻⁶ 10⁻³ 10⁰"},
        {true, true, false, -2.9, 1.8, 5, "0.001 0.01 0.1 1 10 100"},
        {true, false, false, 0, 1.7, 6, "1 2 5 10 20 50"},
        {true, false, false, 0.32, 0.61, 4, "2.5 3 3.5 4"},
        {true, false, false, -300, 300, 3, "1e-200 1e0 1e200"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_plot_scale scale = {.log = cases[i].log, .from = cases[i].from, .to = cases[i].to};
        char labels[512] = "";
        tmi_plot_ticks(&scale, cases[i].wanted, cases[i].widen, cases[i].unicode);
        for (size_t t = 0; t < scale.tick_count; t++) {
            strcat(strcat(labels, t > 0 ? " " : ""), scale.ticks[t].label);
            assert_true(scale.ticks[t].share >= 0 && scale.ticks[t].share <= 1);
            assert_true(t == 0 || scale.ticks[t].share > scale.ticks[t - 1].share);
        }
        assert_string_equal(labels, cases[i].labels);
    }
}

/* ---- whole plots ---- */

static const double xs[] = {0, 1, 2, 3, 4}, falling[] = {1, 0.5, 0.2, 0.1, 0}, rising[] = {0.1, 0.2, 0.4, 0.6, 0.9};
static const double level_x[] = {0, 4}, level_y[] = {0.3, 0.3}, dot_x = 2, dot_y = 0.8;

static const tamis_plot_curve curves[] = {{"falling", xs, falling, 5, false},
                                          {"rising", xs, rising, 5, false},
                                          {"limit", level_x, level_y, 2, true},
                                          {"here", &dot_x, &dot_y, 1, false}};

static const tamis_plot plain = {.title = "Two curves",
                                 .subtitle = "a line and a dot",
                                 .x = {.label = "epsilon"},
                                 .y = {.label = "delta"},
                                 .curves = curves,
                                 .curve_count = 4};

static void text_in_ascii(void **state)
{
    (void)state;
    char *text;
    assert_int_equal(tamis_plot_text(&text, &plain, TAMIS_LETTERS_ASCII, NULL), TAMIS_OK);
    assert_string_equal(text, "  Two curves\n"
                              "  a line and a dot\n"
                              "  delta\n"
                              "    1 +**                                                        rising\n"
                              "      |  **                                                            o\n"
                              "      |    ***                           here                      oooo\n"
                              "  0.8 +       **                       O                      ooooo\n"
                              "      |         ***                                       oooo\n"
                              "  0.6 +            **                                 oooo\n"
                              "      |              **                         oooooo\n"
                              "      |                *****             ooooooo\n"
                              "  0.4 +                     ****   oooooo                          limit\n"
                              "      |......................ooo****....................................\n"
                              "  0.2 +               ooooooo       *****\n"
                              "      |   oooooooooooo                   ************\n"
                              "      |ooo                                           ************\n"
                              "    0 +                                         falling          *******\n"
                              "      ++-------+-------+-------+-------+-------+-------+-------+-------+\n"
                              "       0      0.5      1      1.5      2      2.5      3      3.5      4\n"
                              "                                                                 epsilon\n");
    tamis_free(text);
}

static void text_in_braille(void **state)
{
    (void)state;
    tamis_plot plot = plain;
    char *text;
    plot.y = (tamis_plot_axis){.label = "delta", .log = true};
    plot.curve_count = 1;
    plot.title = plot.subtitle = NULL;
    assert_int_equal(tamis_plot_text(&text, &plot, TAMIS_LETTERS_BRAILLE, NULL), TAMIS_OK);
    assert_string_equal(text, "  delta\n"
                              "     1 ┤⠉⠒⠒⠤⠤⣀⣀\n"
                              "       │       ⠉⠉⠒⠒⠤⠤⣀⡀\n"
                              "   0.5 ┤              ⠈⠉⠑⠒⠤⢄⣀\n"
                              "       │                     ⠉⠑⠒⠤⢄⣀\n"
                              "       │                           ⠉⠑⠢⠤⣀⡀\n"
                              "   0.2 ┤                                ⠈⠉⠒⠒⠤⠤⣀⣀\n"
                              "       │                                        ⠉⠉⠒⠒⠤⠤⣀⡀\n"
                              "   0.1 ┤                                               ⠈⠑⢄\n"
                              "  0.05 ┤                                                  ⠑⠤⡀ falling\n"
                              "       │                                                    ⠈⠢⡀\n"
                              "       │                                                      ⠈⠑⢄\n"
                              "  0.02 ┤                                                         ⠑⠤⡀\n"
                              "       │                                                           ⠈⠢⡀\n"
                              "  0.01 ┤                                                             ⠈⠑⢄\n"
                              "       └┴───────┴───────┴───────┴───────┴──────┴───────┴───────┴───────┴\n"
                              "        0      0.5      1      1.5      2     2.5      3      3.5      4\n"
                              "                                                                 epsilon\n");
    tamis_free(text);
}

static void lines_fit_72_columns(void **state)
{
    (void)state;
    tamis_plot plot = plain;
    double large[] = {1e290, 2e290, 3e290, 4e290, 5e290};
    tamis_plot_curve curve = {"東京 and a name that is longer than the whole plot is wide, which nobody should ever do", xs,
                              large, 5, false};
    plot.curves = &curve;
    plot.curve_count = 1;
    for (int letters = 0; letters < 2; letters++) {
        char *text;
        plot.x.label = letters == 0 ? "x" : NULL;
        assert_int_equal(tamis_plot_text(&text, &plot, (tamis_letters)letters, NULL), TAMIS_OK);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            assert_true(tmi_text_columns(line) <= 72);
            assert_true(line[strlen(line) - 1] != ' ');
        }
        tamis_free(text);
    }
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) count++;
    return count;
}

static void svg_has_its_parts(void **state)
{
    (void)state;
    tamis_plot plot = plain;
    char *svg;
    plot.title = "a < b & \"c\" \xff\x1b[31m";
    assert_int_equal(tamis_plot_svg(&svg, &plot, NULL), TAMIS_OK);
    assert_int_equal(strncmp(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39), 0);
    assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
    assert_non_null(strstr(svg, "<title>a &lt; b &amp; \"c\" ??[31m</title>"));
    assert_non_null(strstr(svg, "<desc>a line and a dot. delta against epsilon. Curves: falling, rising, limit, here.</desc>"));
    assert_int_equal(count_of(svg, "class=\"tp-line"), 2);
    assert_int_equal(count_of(svg, "class=\"tp-reference\""), 1);
    assert_int_equal(count_of(svg, "<circle"), 1);
    assert_int_equal(count_of(svg, "class=\"tp-name"), 4);
    assert_int_equal(count_of(svg, "prefers-color-scheme:dark"), 1);
    assert_int_equal(count_of(svg, "<text"), count_of(svg, "</text>"));
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
    tamis_free(svg);
}

static const char *line_of(const char *svg, const char *class)
{
    const char *at = strstr(svg, class);
    assert_non_null(at);
    return strstr(at, "d=\"") + 3;
}

/* A gap, the edges, what is outside: how many lines a curve is made of, and where it ends. */
static void curves_end_at_the_frame(void **state)
{
    (void)state;
    static const struct {
        double y[5], from, to;
        bool log;
        size_t lines, points; /* begun, continued */
    } cases[] = {
        {{1, 2, 3, 4, 5}, 0, 0, false, 1, 4},
        {{1, 2, NAN, 4, 5}, 0, 0, false, 2, 2},
        {{1, 2, INFINITY, INFINITY, 5}, 0, 0, false, 2, 3},
        {{1, 0.1, 0.01, 0, 0}, 0, 0, true, 1, 3},
        {{1, 0.1, -1, 0, 0.2}, 0, 0, true, 2, 3},
        {{1, 2, 3, 4, 5}, 2.5, 3.5, false, 1, 2},
        {{0, 9, 0, 9, 0}, 2, 3, false, 4, 4},
        {{1, 2, 3, 1e301, -1e301}, 0, 0, false, 1, 4},
        {{3, 3, 3, 3, 3}, 0, 0, false, 1, 4},
        {{3, 3, 3, 3, 3}, 0, 0, true, 1, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plot_curve curve = {.x = xs, .y = cases[i].y, .count = 5};
        tamis_plot plot = {.y = {.from = cases[i].from, .to = cases[i].to, .log = cases[i].log},
                           .curves = &curve,
                           .curve_count = 1};
        char *svg, path[1024];
        assert_int_equal(tamis_plot_svg(&svg, &plot, NULL), TAMIS_OK);
        snprintf(path, sizeof path, "%.*s", (int)strcspn(line_of(svg, "class=\"tp-line"), "\""), line_of(svg, "class=\"tp-line"));
        assert_int_equal(count_of(path, "M"), cases[i].lines);
        assert_int_equal(count_of(path, "L"), cases[i].points);
        tamis_free(svg);
        assert_int_equal(tamis_plot_text(&svg, &plot, TAMIS_LETTERS_BRAILLE, NULL), TAMIS_OK);
        tamis_free(svg);
    }
}

static void no_locale_changes_a_plot(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8"};
    char *before, *after;
    assert_int_equal(tamis_plot_svg(&before, &plain, NULL), TAMIS_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!setlocale(LC_ALL, names[i])) continue;
        assert_int_equal(tamis_plot_svg(&after, &plain, NULL), TAMIS_OK);
        setlocale(LC_ALL, "C");
        assert_string_equal(before, after);
        tamis_free(after);
    }
    tamis_free(before);
}

static void bad_plots_are_refused(void **state)
{
    (void)state;
    static const double nothing[] = {NAN, INFINITY};
    const struct {
        tamis_plot plot;
        const char *message;
    } cases[] = {
        {{.curves = NULL, .curve_count = 1}, "curves: must be 1 to 8"},
        {{.curves = curves, .curve_count = 0}, "curves: must be 1 to 8"},
        {{.curves = curves, .curve_count = 9}, "curves: must be 1 to 8"},
        {{.curves = &(const tamis_plot_curve){.x = NULL, .y = xs, .count = 5}, .curve_count = 1}, "curve 0: must have 1 to"},
        {{.curves = &(const tamis_plot_curve){.x = xs, .y = xs, .count = 0}, .curve_count = 1}, "curve 0: must have 1 to"},
        {{.curves = &(const tamis_plot_curve){.x = xs, .y = xs, .count = SIZE_MAX}, .curve_count = 1}, "curve 0: must have 1 to"},
        {{.curves = &(const tamis_plot_curve){.x = xs, .y = nothing, .count = 2}, .curve_count = 1}, "finite y"},
        {{.curves = &(const tamis_plot_curve){.x = nothing, .y = xs, .count = 2}, .curve_count = 1}, "finite x"},
        {{.x = {.from = 1, .to = 0}, .curves = curves, .curve_count = 1}, "x: from"},
        {{.x = {.from = NAN}, .curves = curves, .curve_count = 1}, "x: from"},
        {{.y = {.from = 0, .to = INFINITY}, .curves = curves, .curve_count = 1}, "y: from"},
        {{.y = {.from = 1, .to = 1 + 1e-12}, .curves = curves, .curve_count = 1}, "y: from"},
        {{.y = {.from = 0, .to = 1, .log = true}, .curves = curves, .curve_count = 1}, "positive"},
        {{.x = {.from = 7, .to = 8}, .curves = curves, .curve_count = 4}, "inside the axes"},
    };
    char *text = (char *)1;
    tamis_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tamis_plot_svg(&text, &cases[i].plot, &err), TAMIS_INVALID);
        assert_null(text);
        assert_non_null(strstr(err.message, cases[i].message));
        assert_int_equal(tamis_plot_text(&text, &cases[i].plot, TAMIS_LETTERS_ASCII, &err), TAMIS_INVALID);
        assert_null(text);
    }
    assert_int_equal(tamis_plot_svg(&text, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_plot_svg(NULL, &plain, &err), TAMIS_INVALID);
    assert_int_equal(tamis_plot_text(NULL, &plain, TAMIS_LETTERS_ASCII, &err), TAMIS_INVALID);
    assert_int_equal(tamis_plot_text(&text, &plain, (tamis_letters)7, &err), TAMIS_INVALID);
}

static void memory_may_end(void **state)
{
    (void)state;
    char *text;
    EVERY_ALLOCATION_FAILS(tamis_plot_svg(&text, &plain, NULL), assert_null(text));
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_plot_text(&text, &plain, TAMIS_LETTERS_BRAILLE, NULL), assert_null(text));
    tamis_free(text);
}

static int times(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) count++;
    return count;
}

/* An area is filled, dots are circles without a line, and names stand where numbers would. */
static void areas_dots_and_names(void **state)
{
    static const double x[] = {1, 2, 2, 1, NAN, 3, 4, 3}, y[] = {1, 1, 2, 1, NAN, 1, 2, 1}, dots_x[] = {1, 2, 99, 3},
                        dots_y[] = {1, 2, 1, NAN};
    static const char *const names[] = {"north & east", "south", NULL, "west"};
    const tamis_plot_curve two[] = {{"area", x, y, 8, false}, {"dots", dots_x, dots_y, 4, false}};
    tamis_plot plot = {.x = {.names = names, .name_count = 4}, .curves = two, .curve_count = 2, .areas = 1, .dots = 2};
    char *svg, *text;
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_plot_svg(&svg, &plot, NULL), TAMIS_OK);
    assert_true(times(svg, "class=\"tp-area tp-s0 tp-f0\"") == 1 && times(svg, "<circle") == 2 &&
                times(svg, "class=\"tp-line") == 0);
    assert_true(strstr(svg, ">north &amp; east</text>") && strstr(svg, ">west</text>") && !strstr(svg, ">2.5</text>"));
    tamis_free(svg);
    assert_int_equal(tamis_plot_text(&text, &plot, TAMIS_LETTERS_ASCII, NULL), TAMIS_OK);
    assert_true(strstr(text, "north & east") && strstr(text, "west"));
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_plot_svg(&svg, &plot, &err), { assert_null(svg); });
    tamis_free(svg);
    plot.x.name_count = TAMIS_PLOT_NAMES + 1;
    assert_int_equal(tamis_plot_svg(&svg, &plot, &err), TAMIS_INVALID);
    plot.x.name_count = 4;
    plot.x.log = true;
    assert_int_equal(tamis_plot_svg(&svg, &plot, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "names"));
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(ticks_are_round_numbers),  cmocka_unit_test(text_in_ascii),
        cmocka_unit_test(text_in_braille),          cmocka_unit_test(lines_fit_72_columns),
        cmocka_unit_test(svg_has_its_parts),        cmocka_unit_test(curves_end_at_the_frame),
        cmocka_unit_test(no_locale_changes_a_plot), cmocka_unit_test(bad_plots_are_refused),
        cmocka_unit_test(areas_dots_and_names),     cmocka_unit_test(memory_may_end),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
