"""20 grouped totals of bench/sums.c in other private libraries, over the same Parquet file: one JSON object per line, on
one core.

    grouped_peers.py FILE opendp | tumult

OpenDP asks Polars for sums of weight * value, the product clipped. Tumult Analytics has no weighted sums: it clips and adds the
values alone, on a local Spark, whose start is not counted; it needs Java and an environment of its own. Plain Polars and
plain Spark, which are not private, stand beside them.
"""
import os
import sys
import time

from timing import measure

FILE, WHO = sys.argv[1:]
GROUPS = [f"group {i:02d}" for i in range(20)]


def opendp():
    import opendp.prelude as dp
    import polars
    dp.enable_features("contrib")

    def release():
        context = dp.Context.compositor(
            data=polars.scan_parquet(FILE), privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1, margins=[dp.polars.Margin(by=["g"], max_length=10**7, max_groups=20, invariant="keys")])
        total = (polars.col("w") * polars.col("v")).dp.sum((0.0, 6000.0))
        return context.query().group_by("g").agg(total).release().collect()

    clipped = polars.col("w").clip(1, 40) * polars.col("v").clip(0, 150)
    measure("polars: grouped totals", 10**7, polars.scan_parquet(FILE).group_by("g").agg(clipped.sum()).collect, clock=time.process_time)
    measure("opendp: grouped totals", 10**7, release, clock=time.process_time)


def tumult():
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers need the same packages
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session
    spark = (SparkSession.builder.master("local[1]").config("spark.driver.memory", "2g")
             .config("spark.sql.shuffle.partitions", "1").config("spark.ui.enabled", "false")
             .config("spark.sql.warehouse.dir", os.path.abspath("spark-warehouse"))
             .config("spark.driver.extraJavaOptions", "-Dio.netty.tryReflectionSetAccessible=true").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    session = Session.from_dataframe(privacy_budget=PureDPBudget(float("inf")), source_id="t",
                                     dataframe=spark.read.parquet(FILE), protected_change=AddOneRow())
    query = QueryBuilder("t").groupby(KeySet.from_dict({"g": GROUPS})).sum("v", low=0.0, high=150.0)
    plain = f"SELECT g, sum(least(greatest(w, 1), 40) * least(greatest(v, 0), 150)) FROM parquet.`{FILE}` GROUP BY g"
    measure("spark: grouped totals", 10**7, lambda: spark.sql(plain).collect())
    measure("tumult: grouped totals", 10**7, lambda: session.evaluate(query, PureDPBudget(1)).collect())


{"opendp": opendp, "tumult": tumult}[WHO]()
