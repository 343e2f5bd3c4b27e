"""Records of languages that are easy, intermediate and hard."""

from crosslens.results.record import Record

STARTS = {"encoder": None, "adapted": "adapted", "scratch": "scratch", "bilstm": "bilstm"}


def scored(target, start, value, *, seed=1, half=1.0, settings="limit=300", **columns):
    """A score in records; ``half`` is half of its interval, None for none."""
    return Record(
        task="pos",
        metric="accuracy",
        source=target,
        target=target,
        train=f"ud/{target}:train",
        corpus=f"ud/{target}:test",
        seed=seed,
        value=value,
        low=None if half is None else value - half,
        high=None if half is None else value + half,
        condition="none" if start == "encoder" else f'{{"start": "{start}"}}',
        start=STARTS[start],
        state="fine-tuned",
        recipe="small",
        settings=settings,
        **columns,
    )


def languages(seeds=(1, 2, 3), **columns):
    means = {"gsw": (90, 91, 80), "wo": (70, 85, 78), "ug": (40, 60, 80)}
    return [
        scored(target, start, mean + seed / 10 + noise * seed, seed=seed, **columns)
        for target, values in means.items()
        for start, mean, noise in zip(("encoder", "adapted", "bilstm"), values, (0, 0.02, -0.03), strict=True)
        for seed in seeds
    ]
