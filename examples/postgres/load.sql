-- psql service=survey -f load.sql, in this folder
CREATE TABLE households (household integer, state text, size integer, income double precision, weight double precision);
\copy households FROM '../households/eusilc.csv' CSV HEADER
