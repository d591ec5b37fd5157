#!/bin/sh
# How private is an estimate because its sample was drawn at random? The formulas of the paper ht at the size of a real
# survey, as three tables in CSV and a picture. Usage: sh curves.sh [FOLDER]; TAMIS names the program.
set -e
tamis=${TAMIS:-tamis}
folder=${1:-.}
survey='"N": 6194, "n": 200, "mt": 400, "Mt": 5794'

# Questions on standard input, whose ids are the first columns; answers as rows, the upper end being the number to publish.
rows() {
    "$tamis" compute | sed -E 's/^\{"id": "([^"]*)", "out": \{"[a-z]*": \{"lower": [^,]*, "upper": "?([^,}"]*)"?\}.*/\1,\2/'
}

ask() { # ID KIND IN
    printf '{"id": "%s", "area": "ht_srs_binary", "kind": "%s", "in": {%s}}\n' "$1" "$2" "$3"
}

# delta as a function of eps: Result 8, and the same with noise on the total.
{
    echo noise,eps,delta
    for eps in 0 0.01 0.02 0.03 0.04 0.05 0.06 0.08 0.1 0.15 0.2 0.3 0.5 0.7; do
        ask "none,$eps" delta_none_eps "$survey, \"eps\": \"$eps\""
        ask "laplace 50,$eps" delta_laplace "$survey, \"b\": \"50\", \"eps\": \"$eps\""
        ask "gaussian 50,$eps" delta_gaussian "$survey, \"sigma\": \"50\", \"eps\": \"$eps\""
    done | rows
} >"$folder/delta.csv"

# eps at delta = 0, Result 9: finite as long as fewer people are sampled than are known to have, and not to have, the value.
{
    echo sample,eps
    for n in 1 10 50 100 200 300 400 401 500; do
        ask "$n" eps0_none "\"N\": 6194, \"n\": $n, \"mt\": 400, \"Mt\": 5794"
    done | rows
} >"$folder/pure.csv"

# The aim of the paper: how much noise is still needed for (eps, delta). 0: none, the sampling is enough.
{
    echo noise,eps,delta,scale
    for eps in 0.01 0.02 0.05; do
        for delta in 1e-6 1e-9; do
            ask "laplace,$eps,$delta" scale_laplace "$survey, \"eps\": \"$eps\", \"delta\": \"$delta\""
            ask "gaussian,$eps,$delta" scale_gaussian "$survey, \"eps\": \"$eps\", \"delta\": \"$delta\""
        done
    done | rows
} >"$folder/scale.csv"

# The first curve as a picture.
"$tamis" privacy srs --population 6194 --sample 200 --ones 400:5794 --svg "$folder/delta.svg" --json >"$folder/delta.json"
