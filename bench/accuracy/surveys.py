"""Finished surveys with weights, strata and clusters, and what a statistician would ask of them.

A survey has a design as the plan says it, columns, and statistics as pairs of what and, where there are any, groups; `plan` makes
a plan of it. JSON is YAML, so the plan is written as JSON.

The files come from R packages of Debian (r-cran-laeken 0.5.2, r-cran-survey 4.1-1), unchanged but for the format:

    data(eusilc, package="laeken");  write.csv(eusilc, "eusilc.csv", row.names=FALSE, na="")
    data(nhanes, package="survey");  write.csv(nhanes, "nhanes.csv", row.names=FALSE, na="")
    data(yrbs, package="survey");    write.csv(yrbs, "yrbs.csv", row.names=FALSE, na="")

Two more were kept back until the part of the budget that goes to standard errors was chosen on all five. nhis is nhis.large of the R
package PracTools 1.7.5 (National Health Interview Survey 2003), namcs is namcs2019sv of surveytable 0.10.0 (National Ambulatory Medical Care Survey 2019); dots in the names of
columns are kept.
"""
import json

STATES = ["Burgenland", "Carinthia", "Lower Austria", "Salzburg", "Styria", "Tyrol", "Upper Austria", "Vienna", "Vorarlberg"]
AGES = {"age": [16, 35, 50, 65]}

EUSILC = {
    "name": "eusilc", "file": "eusilc.csv", "unit": "person",
    "strata": "db040", "cluster": "db030", "weight": "rb050", "max_weight": 1050, "population": 8182222,
    "deff": "1.8", "typical": {"sample": 14827, "cluster": {"mean": 2.5, "sd": 1.4}, "icc": 0.3},
    "columns": {
        "db040": {"values": STATES, "missing": "none"},
        "rb090": {"values": ["female", "male"], "missing": "none"},
        "age": {"from": 0, "to": 100, "step": 1, "missing": "none", "typical": {"mean": 40, "sd": 22}},
        "pl030": {"values": ["1", "2", "3", "4", "5", "6", "7"],
                  "typical": {"1": 0.35, "2": 0.08, "3": 0.03, "4": 0.05, "5": 0.21, "6": 0.01, "7": 0.08}},
        "pb220a": {"values": ["AT", "EU", "Other"], "typical": {"AT": 0.75, "EU": 0.02, "Other": 0.05}},
        "eqIncome": {"from": 0, "to": 60000, "step": 1, "missing": "none", "typical": {"mean": 20000, "sd": 10000}},
        "py010n": {"from": 0, "to": 60000, "step": 1, "missing": 0, "typical": {"mean": 7500, "sd": 11000}},
    },
    "statistics": [
        ({"count": "units"}, ["rb090"]),
        ({"count": "units"}, ["db040"]),
        ({"count": "units"}, [AGES]),
        ({"count": "units"}, ["pl030"]),
        ({"count": "units"}, ["rb090", "pl030"]),
        ({"share": {"pb220a": ["EU", "Other"]}}, []),
        ({"mean": "age"}, []),
        ({"mean": "eqIncome"}, []),
        ({"mean": "eqIncome"}, ["rb090"]),
        ({"mean": "eqIncome"}, ["db040"]),
        ({"mean": "eqIncome"}, [AGES]),
        ({"share": {"eqIncome": {"to": 10859}}}, []),
        ({"share": {"eqIncome": {"to": 10859}}}, ["rb090"]),
        ({"share": {"eqIncome": {"to": 10859}}}, ["db040"]),
        ({"total": "py010n"}, []),
        ({"total": "py010n"}, ["rb090"]),
    ],
}

NHANES_AGES = ["(0,19]", "(19,39]", "(39,59]", "(59,Inf]"]
NHANES = {
    "name": "nhanes", "file": "nhanes.csv", "unit": "person",
    "strata": "SDMVSTRA", "cluster": "SDMVPSU", "weight": "WTMEC2YR", "max_weight": 160000, "population": 276536446,
    "deff": "3", "typical": {"sample": 8591, "cluster": {"mean": 277, "sd": 60}, "icc": 0.01},
    "columns": {
        "HI_CHOL": {"values": ["0", "1"], "typical": {"0": 0.82, "1": 0.1}},
        "race": {"values": ["1", "2", "3", "4"], "missing": "none", "typical": {"1": 0.15, "2": 0.65, "3": 0.12}},
        "agecat": {"values": NHANES_AGES, "missing": "none"},
        "RIAGENDR": {"values": ["1", "2"], "missing": "none"},
    },
    "statistics": [
        ({"count": "units"}, ["RIAGENDR"]),
        ({"count": "units"}, ["race"]),
        ({"count": "units"}, ["agecat"]),
        ({"table": ["race", "RIAGENDR"]}, []),
        ({"count": "units"}, ["HI_CHOL"]),
        ({"total": {"HI_CHOL": "1"}}, ["agecat"]),
        ({"share": {"HI_CHOL": "1"}}, []),
        ({"share": {"HI_CHOL": "1"}}, ["RIAGENDR"]),
        ({"share": {"HI_CHOL": "1"}}, ["race"]),
        ({"share": {"HI_CHOL": "1"}}, ["agecat"]),
        ({"share": {"HI_CHOL": "1"}}, ["race", "RIAGENDR"]),
        ({"share": {"HI_CHOL": "1"}}, ["agecat", "RIAGENDR"]),
        ({"share": {"race": "1"}}, ["agecat"]),
    ],
}

YRBS_STRATA = [str(s) for s in (101, 102, 103, 111, 112, 113, 201, 202, 203, 211, 212, 213, 214)]
URBAN = YRBS_STRATA[:6]
YRBS = {
    "name": "yrbs", "file": "yrbs.csv", "unit": "student",
    "strata": "stratum", "cluster": "psu", "weight": "weight", "max_weight": 11, "population": 15624,
    "deff": "4", "typical": {"sample": 15624, "cluster": {"mean": 290, "sd": 180}, "icc": 0.03},
    "columns": {
        "qn8": {"values": ["1", "2"], "typical": {"1": 0.47, "2": 0.09}},
        "stratum": {"values": YRBS_STRATA, "missing": "none"},
    },
    "statistics": [
        ({"count": "units"}, ["qn8"]),
        ({"count": "units"}, ["stratum"]),
        ({"table": ["stratum", "qn8"]}, []),
        ({"total": {"qn8": "1"}}, []),
        ({"total": {"stratum": URBAN}}, []),
        ({"share": {"stratum": URBAN}}, []),
        ({"share": {"qn8": "1"}}, []),
        ({"share": {"qn8": "1"}}, ["stratum"]),
        ({"share": {"qn8": ["1", "2"]}}, []),
        ({"total": {"qn8": "2"}}, ["stratum"]),
        ({"ratio": {"of": {"qn8": "2"}, "to": {"qn8": "1"}}}, []),
        ({"share": {"stratum": ["201", "202", "203"]}}, []),
    ],
}

YES = {"values": ["1", "2"], "typical": {"1": 0.1, "2": 0.89}}
NHIS = {
    "name": "nhis", "file": "nhis_large.csv", "unit": "person",
    "strata": "stratum", "cluster": "psu", "weight": "svywt", "max_weight": 12000, "population": 66643121,
    "deff": "2", "typical": {"sample": 21588, "cluster": {"mean": 144, "sd": 80}, "icc": 0.02},
    "columns": {
        "sex": {"values": ["1", "2"], "missing": "none"},
        "age.grp": {"values": ["1", "2", "3", "4", "5"], "missing": "none"},
        "hisp": {"values": ["1", "2", "3", "4"], "missing": "none", "typical": {"1": 0.15, "2": 0.68, "3": 0.12, "4": 0.05}},
        "medicaid": YES, "hosp.stay": YES, "delay.med": YES,
    },
    "statistics": [
        ({"count": "units"}, ["sex"]),
        ({"count": "units"}, ["age.grp"]),
        ({"count": "units"}, ["hisp"]),
        ({"total": {"medicaid": "1"}}, []),
        ({"total": {"medicaid": "1"}}, ["age.grp"]),
        ({"share": {"medicaid": "1"}}, []),
        ({"share": {"medicaid": "1"}}, ["sex"]),
        ({"share": {"medicaid": "1"}}, ["hisp"]),
        ({"share": {"medicaid": "1"}}, ["age.grp"]),
        ({"share": {"hosp.stay": "1"}}, []),
        ({"share": {"hosp.stay": "1"}}, ["age.grp"]),
        ({"share": {"delay.med": "1"}}, []),
        ({"share": {"delay.med": "1"}}, ["hisp"]),
    ],
}

NAMCS_AGES = ["Under 15 years", "15-24 years", "25-44 years", "45-64 years", "65-74 years", "75 years and over"]
NAMCS_CARE = ["Primary care specialty", "Medical care specialty", "Surgical care specialty"]
NAMCS = {
    "name": "namcs", "file": "namcs2019sv.csv", "unit": "visit",
    "strata": "CSTRATM", "cluster": "CPSUM", "weight": "PATWT", "max_weight": 600000, "population": 1036484356,
    "deff": "5", "typical": {"sample": 8250, "cluster": {"mean": 21, "sd": 9}, "icc": 0.1},
    "columns": {
        "SEX": {"values": ["Female", "Male"], "missing": "none"},
        "AGER": {"values": NAMCS_AGES, "missing": "none"},
        "SPECCAT": {"values": NAMCS_CARE, "missing": "none"},
        "ANYIMAGE": {"values": ["TRUE", "FALSE"], "missing": "none", "typical": {"TRUE": 0.13}},
        "PAYPRIV": {"values": ["TRUE", "FALSE"], "missing": "none", "typical": {"TRUE": 0.6}},
        "AGE": {"from": 0, "to": 100, "step": 1, "missing": "none", "typical": {"mean": 48, "sd": 24}},
        "NUMMED": {"from": 0, "to": 30, "step": 1, "missing": 0, "typical": {"mean": 4, "sd": 5}},
    },
    "statistics": [
        ({"count": "units"}, ["SEX"]),
        ({"count": "units"}, ["AGER"]),
        ({"count": "units"}, ["SPECCAT"]),
        ({"total": {"ANYIMAGE": "TRUE"}}, []),
        ({"share": {"ANYIMAGE": "TRUE"}}, []),
        ({"share": {"ANYIMAGE": "TRUE"}}, ["SPECCAT"]),
        ({"share": {"PAYPRIV": "TRUE"}}, []),
        ({"share": {"PAYPRIV": "TRUE"}}, ["AGER"]),
        ({"mean": "AGE"}, []),
        ({"mean": "AGE"}, ["SEX"]),
        ({"mean": "NUMMED"}, []),
        ({"mean": "NUMMED"}, ["SEX"]),
    ],
}

SURVEYS = [EUSILC, NHANES, YRBS]
KEPT_BACK = [NHIS, NAMCS]


def plan(survey, epsilon, deff, source, psus=None):
    """A plan of the survey: clusters, with a file that lists them or without, or a public design effect instead."""
    how = {"deff": survey["deff"]} if deff else {"strata": survey["strata"], "cluster": survey["cluster"]}
    if psus and not deff:
        how["psus"] = psus
    typical = {"sample": survey["typical"]["sample"]} if deff else survey["typical"]
    statistics = [dict(what, **({"by": by} if by else {})) for what, by in survey["statistics"]]
    return json.dumps({
        "tamis": 1, "survey": survey["name"] + ("-deff" if deff else "-psus" if psus else ""), "source": {"file": source},
        "design": {"weights": dict(how, population=survey["population"]), "weight": survey["weight"],
                   "max_weight": survey["max_weight"], "typical": typical},
        "privacy": {"unit": survey["unit"], "epsilon": epsilon},
        "columns": survey["columns"], "statistics": statistics, "budget": {"epsilon": 100 * epsilon},
    }, indent=1)
