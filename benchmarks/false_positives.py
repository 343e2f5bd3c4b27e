"""How often equal conditions are called different, what intervals cover, and what few seeds can see.

python benchmarks/false_positives.py    (prints Markdown)

Studies are drawn in which all is known: conditions are fine-tuned with the same few seeds, compared with one reference,
and tested on the same corpora. A model's score on a corpus has noise of its seed, a part of which all corpora share,
and noise of the corpus's sentences. What is drawn is tested by `crosslens.scores.intervals`, as a study's summary is.
"""

import bisect
import itertools
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from crosslens.scores.intervals import LEVEL, half_width, p_value, q_values

SENTENCES = 200
"""Of each corpus."""

ERROR = 0.55
"""Standard error over sentences of a difference, in points, as of POS tagging on 200 sentences."""

SEEDS = (2, 3, 5)


@dataclass(frozen=True)
class Setting:
    """What the models of a study vary by.

    Attributes:
        conditions: beside the reference.
        corpora: that each is tested on.
        seeds: of each condition.
        spread: SD of a corpus's score over seeds, in points.
        shared: share of the variance that all corpora of a model have in common.
        unequal: whether corpora (times e^N(0, .4)) and conditions (times e^N(0, .5)) have SDs of their own.
        tails: degrees of freedom of Student's t that seeds follow: few: some seeds fail; None: normal.
        effects: true differences of the conditions; one for all, or one a condition.
    """

    conditions: int = 7
    corpora: int = 15
    seeds: int = 3
    spread: float = 1.1
    shared: float = 0.5
    unequal: bool = False
    tails: int | None = None
    effects: float | tuple[float, ...] = 0.0


def draw(setting, studies, generator):
    """Differences to the reference, ``(studies, conditions, corpora, seeds)``, and their variances over sentences."""
    models, corpora, seeds = setting.conditions + 1, setting.corpora, setting.seeds

    def noise(spread, *shape):
        if setting.tails is None:
            return generator.normal(0, spread, shape)
        return generator.standard_t(setting.tails, shape) * spread * ((setting.tails - 2) / setting.tails) ** 0.5

    def in_part_shared(spread, last, noise):
        common = noise(spread * setting.shared**0.5, studies, models, 1, last)
        return common + noise(spread * (1 - setting.shared) ** 0.5, studies, models, corpora, last)

    over_seeds = in_part_shared(setting.spread, seeds, noise)
    if setting.unequal:
        over_seeds *= np.exp(generator.normal(0, 0.4, (studies, 1, corpora, 1)))
        over_seeds *= np.exp(generator.normal(0, 0.5, (studies, models, 1, 1)))
    over_sentences = in_part_shared(ERROR / 2**0.5, 1, lambda spread, *shape: generator.normal(0, spread, shape))
    scores = over_seeds + over_sentences
    scores[:, 1:] += np.reshape(setting.effects, (-1, 1, 1))
    estimated = ERROR**2 * generator.chisquare(SENTENCES - 1, (studies, setting.conditions, corpora)) / (SENTENCES - 1)
    return scores[:, 1:] - scores[:, :1], estimated


def banerjee(mean, over_seeds, seeds, over_sentences):
    """What the library does."""
    parts = over_seeds, seeds, over_sentences, SENTENCES
    return p_value(mean, *parts), half_width(*parts)


def satterthwaite(mean, over_seeds, seeds, over_sentences):
    """What is usual, beside it: Student's t of the sum of both variances, with Satterthwaite's degrees of freedom."""
    error = np.sqrt(over_seeds + over_sentences)
    freedom = error**4 / (over_seeds**2 / (seeds - 1) + over_sentences**2 / (SENTENCES - 1))
    return 2 * stats.t.sf(abs(mean) / error, freedom), stats.t.ppf(1 - LEVEL / 2, freedom) * error


def inference(differences, over_sentences, *, means=False, procedure=banerjee):
    """Q-values and half widths of the intervals: ``(studies, conditions, corpora)``, of means over corpora one each."""
    if means:
        differences = differences.mean(2, keepdims=True)
        over_sentences = np.sqrt(over_sentences).mean(2, keepdims=True) ** 2
    seeds = differences.shape[-1]
    p, half = procedure(differences.mean(-1), differences.var(-1, ddof=1) / seeds, seeds, over_sentences)
    q = np.apply_along_axis(q_values, 1, p.reshape(len(p), -1)).reshape(p.shape)
    return differences.mean(-1), q, half


def null(setting, *, studies, generator, means=False, procedure=banerjee):
    """Shares of studies of equal conditions with any q below 0.05, and of intervals that hold the truth, in percent."""
    difference, q, half = inference(*draw(setting, studies, generator), means=means, procedure=procedure)
    return 100 * (q < LEVEL).any((1, 2)).mean(), 100 * (abs(difference) <= half).mean()


def power(setting, *, studies, generator, means=False):
    """Share of the first condition's differences with q below 0.05, in percent."""
    _, q, _ = inference(*draw(setting, studies, generator), means=means)
    return 100 * (q[:, 0] < LEVEL).mean()


SPREADS = (0.0, 0.3, 1.1, 2.0)

SHARED = (0.2, 0.8)

DESIGNS = {
    "1 condition, 15 corpora": Setting(conditions=1),
    "7 conditions, 15 corpora": Setting(),
    "7 conditions, 1 corpus": Setting(corpora=1),
}

SPREADING = {"equal": {}, "unequal": {"unequal": True}, "unequal, some seeds fail": {"unequal": True, "tails": 3}}


def calibration(*, studies, generator, means=False, procedure=banerjee):
    """Rows of designs, ways that seeds spread, and their SD, over all of `SHARED`."""
    for (name, design), (way, more), spread in itertools.product(DESIGNS.items(), SPREADING.items(), SPREADS):
        if means and design.corpora == 1:
            continue
        outcomes = [
            [
                null(
                    replace(design, spread=spread, seeds=seeds, shared=shared, **more),
                    studies=studies,
                    generator=generator,
                    means=means,
                    procedure=procedure,
                )
                for shared in SHARED
            ]
            for seeds in SEEDS
        ]
        yield name, way, spread, np.mean(outcomes, axis=1)


def visible(*, means, seeds, spread, studies, generator, wanted=80):
    """The smallest difference of one of seven conditions, to half a point, that is found with a power of 80 %."""

    def seen(halves):
        setting = Setting(seeds=seeds, spread=spread, unequal=True, effects=(-halves / 2, *[0.0] * 6))
        return power(setting, studies=studies, generator=generator, means=means) >= wanted

    steps = range(1, 201)
    place = bisect.bisect_left(steps, True, key=seen)
    return f"{steps[place] / 2:.1f}" if place < len(steps) else f"over {steps[-1] / 2:.0f}"


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|---|" + "--:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print()


def listed(values):
    return " / ".join(values)


def main():
    generator = np.random.default_rng(20)
    counts = listed(map(str, SEEDS))
    for title, means, procedure, studies in (
        ("Differences on single corpora", False, banerjee, 2000),
        ("Means over the corpora, one test a condition", True, banerjee, 2000),
        ("Differences on single corpora, with Satterthwaite's degrees of freedom instead", False, satterthwaite, 500),
    ):
        print(f"**{title}: {len(SHARED) * studies:,} studies a cell**\n")
        table(
            ["study", "SDs", "seed SD", f"any q < .05, %: {counts} seeds", f"coverage, %: {counts} seeds"],
            (
                [name, way, spread, *(listed(f"{value:.1f}" for value in column) for column in outcomes.T)]
                for name, way, spread, outcomes in calibration(
                    studies=studies, generator=generator, means=means, procedure=procedure
                )
            ),
        )
    generator = np.random.default_rng(21)
    print("**The smallest difference found with a power of 80 %, in points**\n")
    table(
        ["seeds", *(f"{what}, seed SD {spread}" for what in ("mean", "single corpora") for spread in SPREADS[1:])],
        (
            [
                seeds,
                *(
                    visible(means=means, seeds=seeds, spread=spread, studies=400, generator=generator)
                    for means in (True, False)
                    for spread in SPREADS[1:]
                ),
            ]
            for seeds in (2, 3, 5, 10)
        ),
    )


if __name__ == "__main__":
    main()
