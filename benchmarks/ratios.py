"""Two programs doing the same work in turns, and the ratio of their speeds."""

import statistics
import time


def seconds(work):
    """CPU seconds, and what the work returned."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


class Rates:
    """Sentences per CPU second of each side and kind of work, turn by turn."""

    def __init__(self, peer):
        self.sides = ("crosslens", peer)
        self.of = {}

    def add(self, side, work, sentences, took):
        """One turn's."""
        self.of.setdefault((side, work), []).append(sentences / took)

    def print(self):
        """A Markdown table: medians, the ratio of the medians, and the smallest and largest ratio of a turn."""
        ours, peer = self.sides
        print(f"| work | crosslens | {peer} | ratio |\n|---|---|---|---|")
        for work in dict.fromkeys(work for _, work in self.of):
            mine, its = self.of[ours, work], self.of[peer, work]
            one, other = statistics.median(mine), statistics.median(its)
            ratios = [a / b for a, b in zip(mine, its, strict=True)]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            print(f"| {work}, sentences per CPU second | {one:.1f} | {other:.1f} | **{one / other:.2f}** ({spread}) |")
