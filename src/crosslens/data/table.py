"""Results as tables a person reads: targets down, conditions across, same-language and cross-language apart."""

# pyright: reportAttributeAccessIssue=false, reportGeneralTypeIssues=false, reportReturnType=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportAssignmentType=false, reportArgumentType=false
# (pandas brings no types of its own, and what is inferred from its source is wrong half of the time)

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from crosslens.errors import RequestError

if TYPE_CHECKING:
    import pandas

SAME, CROSS = "same-language mean", "cross-language mean"
UNKNOWN = "?"
"""Stands for a language that nothing says: such a corpus is in no mean."""


def score_table(frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """Scores of one task and source: a row a corpus, a column a condition.

    With a reference (no layers drawn anew) the other conditions are differences to it, headed ``Δ``, as in Table 1 of
    Muller et al. (2021). Where several rules selected the weights, or models were trained on several corpora or with
    several settings, each has a reference and differences of its own, and its name stands in the heads. Values are
    means over seeds; a mean over corpora weighs every corpus alike, and is taken over targets in the source's language
    and over all others apart.

    Args:
        frame: the columns of `crosslens.data.records.Record`.

    Raises:
        RequestError: when the records hold no score, or those of several tasks, metrics, encoders or sources.
    """
    import pandas as pd

    frame = frame[frame["measure"].isna()]
    if frame.empty:
        raise RequestError("these results hold no scores")
    for column in ("task", "metric", "encoder", "source"):
        if frame[column].nunique(dropna=False) > 1:
            values = ", ".join(str(value) for value in frame[column].unique())
            raise RequestError(
                f"one table cannot hold several {column}s: {values}", hint=f"filter({column}=…) picks one"
            )
    source = frame["source"].iloc[0]
    values = values_by_seed(frame).groupby(level=["target", "corpus"], sort=False).mean()
    targets = values.index.get_level_values("target")
    unknown = (targets == UNKNOWN) | bool(pd.isna(source))
    same = (targets == source) & ~unknown
    blocks = []
    for block, title in ((values[same], SAME), (values[~same & ~unknown], CROSS)):
        if len(block):
            mean = pd.DataFrame([block.mean()], index=pd.MultiIndex.from_tuples([(title, "")], names=block.index.names))
            blocks += [block.sort_index(), mean]
    return pd.concat([*blocks, values[unknown]])


def values_by_seed(
    frame: "pandas.DataFrame", *, compared: Literal["reference", "nothing"] = "reference"
) -> "pandas.DataFrame":
    """Scores of one task and source, seed by seed: ``(target, corpus, seed)`` by condition.

    Args:
        frame: records of scores.
        compared: ``reference``: the other conditions are differences to it within a seed, and headed ``Δ``.
    """
    import pandas as pd

    tags = [json.loads(text) for text in frame["tags"]]
    frame = frame.assign(
        target=frame["target"].fillna(UNKNOWN),
        corpus=[its.get("corpus", "") for its in tags],
        condition=conditions_of(frame),
    )
    frame["variant"] = variants_of(tags, list(frame["condition"]))
    scores = frame.pivot_table(
        index=["target", "corpus", "seed"], columns=["variant", "condition"], values="value", sort=False
    )
    columns = {}
    for variant in dict.fromkeys(frame["variant"]):
        named = f", {variant}" if variant else ""
        its = scores[variant]
        others = sorted((name for name in its.columns if name != "reference"), key=_by_size)
        if "reference" not in its.columns:
            columns |= {f"{name}{named}": its[name] for name in others}
            continue
        columns[f"reference{named}"] = its["reference"]
        for name in others:  # within a seed: one that only the other has says nothing of the difference
            difference = compared == "reference"
            value = its[name] - its["reference"] if difference else its[name]
            columns[f"{'Δ ' if difference else ''}{name}{named}"] = value
    return pd.DataFrame(columns)


def similarity_table(frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """Similarities: a row a pair and measure, a column a layer.

    Args:
        frame: the columns of `crosslens.data.records.Record`.

    Raises:
        RequestError: when the records hold no similarity.
    """
    frame = frame[frame["measure"].notna()]
    if frame.empty:
        raise RequestError("these results hold no similarities")
    frame = frame.assign(pair=frame["source"] + "-" + frame["target"], condition=conditions_of(frame))
    index = ["pair", "measure"] if frame["condition"].nunique() == 1 else ["condition", "pair", "measure"]
    table = frame.pivot_table(index=index, columns="layer", values="value", sort=False)
    return table[sorted(table.columns)]


def conditions_of(frame: "pandas.DataFrame") -> list[str]:
    """What was done to each record's encoder; records of older versions say the layers drawn anew alone."""
    layers = frame["ablation"].fillna("reference")
    return [json.loads(text).get("condition", other) for text, other in zip(frame["tags"], layers, strict=True)]


OWN_SETTINGS = ("features", "BiLSTM", "from scratch")
"""How conditions end that cannot be trained as the reference is."""


def variants_of(tags: Sequence[Mapping[str, Any]], conditions: Sequence[str]) -> list[str]:
    """What else tells records of one task and source apart: they must not be averaged over.

    The rule that selected the weights, the training corpus, and the settings of recipe and task; each only where the
    records have several. "" where nothing does. Features and networks without pretraining need settings of their own,
    and stand beside the reference all the same where there is one only.

    Args:
        tags: of each record.
        conditions: what was done to its encoder.
    """
    used = [condition.endswith(OWN_SETTINGS) for condition in conditions]
    if any(used) and not all(used):
        rest = iter(_told([its for its, features in zip(tags, used, strict=True) if not features]))
        found = [None if features else next(rest) for features in used]
        references = {variant for variant, name in zip(found, conditions, strict=True) if name == "reference"}
        if len(references) == 1:
            (only,) = references
            return [str(only) if variant is None else variant for variant in found]
    return _told(tags)


def _told(tags: Sequence[Mapping[str, Any]]) -> list[str]:
    rules, trained_on = ([its.get(name, "") for its in tags] for name in ("training_selection", "training_train"))
    words = [[word for word in its.get("differs_from_usual", "").split() if word[:7] != "select="] for its in tags]
    common = set.intersection(*map(set, words)) if words else set()
    settings = [" ".join(word for word in its if word not in common) for its in words]
    told = [values for values in (rules, trained_on) if len(set(values) - {""}) > 1]
    told += [settings] if len(set(settings)) > 1 else []
    return [", ".join(filter(None, its)) for its in zip(*told, strict=True)] if told else [""] * len(tags)


def _by_size(condition: str) -> tuple[int, list[int], str]:
    """Small sets of layers before large ones, and from the bottom up; what is drawn anew twice comes last."""
    try:
        ends = [[int(end) for end in part.split("-")] for part in condition.split(" ")[0].split(",")]
    except ValueError:
        return (10**6, [], condition)
    return (sum(run[-1] - run[0] + 1 for run in ends), [run[0] for run in ends], condition)
