#!/bin/sh
# Figure 5.1 of the paper settings: two releases with the same loss from one sample of a tenth. Amplifying each and adding up
# (naive) claims too little loss; composing first and amplifying once is right. Usage: sh figure-5-1.sh [FOLDER]; TAMIS names
# the program. Writes figure-5-1.csv, figure-5-1.svg and example.csv (section 5.2: 0.16, 0.49, 0.65, 1.07).
set -e
LC_ALL=C
export LC_ALL
tamis=${TAMIS:-tamis}
folder=${1:-.}

ask() { # ID AREA KIND IN
    printf '{"id": "%s", "area": "%s", "kind": "%s", "in": {"N": 10, "n": 1, %s}}\n' "$1" "$2" "$3" "$4"
}

one() { ask "$1" amplification forward "\"eps\": \"$2\", \"delta\": \"0\""; }
two() { ask "$1" composition pure "\"eps_list\": [\"$2\", \"$3\"]"; }

# Answers as "id,upper end": the number to publish.
rows() {
    "$tamis" compute | sed -E 's/^\{"id": "([^"]*)", "out": \{"[a-z_]*": \{"lower": [^,]*, "upper": ([^,}]*)\}.*/\1,\2/'
}

# Each eps has two answers: of one release, amplified, and of both, composed first.
for eps in 0 0.25 0.5 0.75 1 1.25 1.5 1.75 2 2.25 2.5 2.75 3; do
    one "$eps" "$eps"
    two "$eps" "$eps" "$eps"
done | rows | awk -F, '
    NR == 1 { print "eps,naive,right" }
    NR % 2 == 1 { single = $2 }
    NR % 2 == 0 { printf "%s,%.6f,%.6f\n", $1, 2 * single, $2 }' >"$folder/figure-5-1.csv"

{
    one first 1
    one second 2
    two both 1 2
} | rows | awk -F, '
    { loss[$1] = $2 }
    END {
        print "first,second,naive,right"
        printf "%.2f,%.2f,%.2f,%.2f\n", loss["first"], loss["second"], loss["first"] + loss["second"], loss["both"]
    }' >"$folder/example.csv"

awk -F, '
    function x(eps) { return 60 + 160 * eps }
    function y(loss) { return 330 - 75 * loss }
    function label(px, py, class, text) { printf "<text x=\"%g\" y=\"%g\" class=\"%s\">%s</text>\n", px, py, class, text }
    NR > 1 {
        naive = naive sprintf("%g,%g ", x($1), y($2)); right = right sprintf("%g,%g ", x($1), y($3))
        end_naive = y($2); end_right = y($3)
    }
    END {
        print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 390\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\">"
        print "<title>Privacy loss of two releases of one sample</title>"
        print "<desc>Amplifying each release and adding up claims less loss than there is; composing first is right.</desc>"
        print "<style>text{fill:#222}.a{stroke:#999;fill:none}.n{stroke:#c0392b;fill:none}.r{stroke:#2166ac;fill:none}.N{fill:#c0392b}.R{fill:#2166ac}"
        print "@media(prefers-color-scheme:dark){text{fill:#ddd}.n{stroke:#ff8a75}.r{stroke:#7db8ff}.N{fill:#ff8a75}.R{fill:#7db8ff}}</style>"
        label(60, 20, "", "Loss of two releases of one sample of a tenth")
        for (k = 0; k <= 3; k++) label(x(k) - 4, 350, "", k)
        for (k = 0; k <= 3; k++) label(40, y(k) + 4, "", k)
        label(200, 376, "", "loss of each release on the sample (epsilon)")
        printf "<path class=\"a\" d=\"M60 %g V330 H%g\"/>\n", y(3.9), x(3)
        printf "<polyline class=\"n\" stroke-width=\"2\" points=\"%s\"/>\n", naive
        printf "<polyline class=\"r\" stroke-width=\"2\" points=\"%s\"/>\n", right
        label(x(3) + 6, end_naive + 4, "N", "naive")
        label(x(3) + 6, end_right + 4, "R", "right")
        print "</svg>"
    }' "$folder/figure-5-1.csv" >"$folder/figure-5-1.svg"
