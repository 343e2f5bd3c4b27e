"""Muller, Elazar, Sagot and Seddah (2021), First Align, then Predict."""

from crosslens.report.papers.paper import Paper

MULLER_2021 = Paper(
    name="muller2021",
    differences=("muller2021_tables_6_7_8.csv", "muller2021_table_2.csv", "muller2021_table_1.csv"),
    levels=("muller2021_table_5.csv",),
    # The paper prints them with the other sign than its own definition of the gap gives.
    gap_and_similarity=("muller2021_table_4.csv",),
    sign_of_correlation=-1,
)
